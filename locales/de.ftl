# Die Wörter von Sealpost, für das Fenster, das Symbol in der Leiste und die Mitteilungen.
#
# Wörter für Menschen: Gerät, Gruppe, Relay, Kopplungscode, „auf dem Relay“, wartet,
# entfernt, Zustellproblem, „dieser Computer“. Ein Fehler hat drei Teile: was geschehen
# ist (der Wert), .why (warum) und .action (was jetzt). Die Schlüssel sind in allen
# Sprachen dieselben; ein Test vergleicht sie.

## Words used everywhere

back = Zurück
close = Schließen
copied = Kopiert
copy = Kopieren
quit = Beenden
try-again = Noch einmal versuchen
error-code = Code: { $code }
this-device = Dieses Gerät

## Starting, and when nothing can be opened

starting = Deine Gruppen werden geöffnet …
failed-title = Sealpost kann deine Gruppen nicht öffnen
failed-untouched = Nichts wurde geändert oder gelöscht. Deine Daten sind, wie sie waren.

## First start, and adding a group

first-title = Private Nachrichten mit eigener Post
first-lead = Zwischen deinen Geräten und kleinen Gruppen, über ein Relay, das du selbst betreiben kannst.
name-label = Name dieses Geräts
name-hint = Die anderen Geräte einer Gruppe sehen diesen Namen.
name-empty = Gib diesem Gerät einen Namen.
name-too-long = Dieser Name ist zu lang: { $bytes } Bytes von höchstens { $max }.
start-title = Gruppe hinzufügen
way-start = Eine Gruppe beginnen
way-start-about = Du bekommst einen Kopplungscode, der andere Geräte hereinholt.
way-join = Einer Gruppe beitreten
way-join-about = Mit einem Code, den ein anderes Gerät zeigt: eingefügt oder als Bild. Eine Kamera braucht es nicht.
start-group = Gruppe beginnen
start-group-busy = Die Gruppe wird angelegt …
join-with-code = Mit einem Code beitreten
relay-choice = Relay
relay-choice-here = Auf diesem Computer betreiben
relay-choice-address = Ich habe eine Relay-Adresse
relay-address-label = Relay-Adresse
relay-address-hint = Sie beginnt mit trueseal:// und kommt von der Person, die das Relay betreibt.

## Pairing: show a code

pair-title = Gerät koppeln
pair-title-group = Gerät mit { $group } koppeln
pair-device = Gerät koppeln
pair-show = Meinen Code zeigen
pair-enter = Code eingeben
pair-show-needs-group = Ein Code holt ein Gerät in eine Gruppe. Wähle die Gruppe oder beginne eine.
qr-label = Kopplungscode als Bild
code-how = Öffne Sealpost auf dem anderen Gerät, wähle „Mit einem Code beitreten“ und nimm dieses Bild oder diesen Link.
code-valid-until = Gültig bis { $time }
code-minutes-left = { $minutes ->
    [one] noch eine Minute
   *[other] noch { $minutes } Minuten
}
code-seconds-left = { $seconds ->
    [one] noch eine Sekunde
   *[other] noch { $seconds } Sekunden
}
code-link = Dasselbe als Link
code-copy = Link kopieren
code-close = Code schließen
code-anyone = Wer das sieht, kann um Aufnahme bitten; du bestätigst. Der Code schließt sich, wenn du diese Seite verlässt.
code-preparing = Der Code wird gemacht …
code-new = Neuen Code holen
code-closed-accepted = Das Gerät ist dabei. Dieser Code ist geschlossen.
code-closed-cancelled = Du hast diesen Code geschlossen.
code-closed-expired = Die zehn Minuten dieses Codes sind um.
code-closed-why = Ein geschlossener Code lässt niemanden herein. Für ein weiteres Gerät hole einen neuen.
code-closed-left = Der Kopplungscode wurde geschlossen, weil du seine Seite verlassen hast.
requests-title = Geräte, die um Aufnahme bitten
requests-none = Noch keine. Ein Gerät, das deinen Code benutzt, erscheint hier.
request-compare = bittet um Aufnahme. Nimm es nur auf, wenn sein Bildschirm diese vier Wörter zeigt:
request-accept = Aufnehmen
request-dismiss = Abweisen
request-spoken = { $name } bittet um Aufnahme. Die Wörter: { $words }
words-label = Vier Wörter

## Pairing: enter a code

enter-label = Kopplungscode oder Link
enter-hint = Füge ihn ein, wie er ist. Zeilenumbrüche und Anführungszeichen darum stören nicht.
enter-open-image = Bild des Codes öffnen
enter-drop = oder eines hier einfügen oder ablegen
enter-connect = Verbinden
enter-connecting = Es wird verbunden …
preview-relay = Dieser Code führt zum Relay
preview-relay-key = Sein Schlüssel:
preview-token = Dieser Code nennt kein Relay
preview-nothing-yet = Noch wurde nichts angesprochen. Wenn du verbindest, bittet dieses Gerät als { $name } um Aufnahme.

## Pairing: the joining side

join-title = Zeigt das andere Gerät diese Wörter?
join-about = Das andere Gerät zeigt vier Wörter neben dem Namen dieses Geräts. Vergleiche alle vier in ihrer Reihenfolge.
join-preparing = Die vier Wörter werden berechnet …
words-same = Gleich
words-different = Verschieden
words-different-about = Sind sie verschieden, ist vielleicht jemand dazwischen. „Verschieden“ hört hier auf, und nichts wird betreten.
join-wait-title = Gleich geschafft
join-wait-about = Du hast gesagt, dass diese Wörter gleich sind:
join-wait-accept = Es fehlt noch, dass jemand auf dem anderen Gerät „Aufnehmen“ drückt.
join-wait-finish = Die Gruppe wird auf diesem Gerät eingerichtet.
join-wait-relay = Das Relay fehlt noch. Die Bitte geht von selbst hinaus, sobald es antwortet.
join-cancel = Beitritt abbrechen
join-cancel-about = Du kannst diese Seite verlassen; die Bitte bleibt, bis du sie abbrichst.
paired = Gekoppelt. Sag Hallo!

## Groups and their connection

groups-label = Gruppen
groups-show = Die Gruppen zeigen
group-add = Gruppe hinzufügen
group-unnamed = Neue Gruppe
group-default-name = Meine Geräte
unread = { $count ->
    [one] eine ungelesene Nachricht
   *[other] { $count } ungelesene Nachrichten
}
group-devices = { $count ->
    [one] nur dieses Gerät
   *[other] { $count } Geräte
}
connection-short-connecting = Wird verbunden …
connection-short-none = Keine Verbindung zum Relay
connection-short-unsupported = Braucht eine andere Version
relay-here = diesen Computer
status-joining = Tritt bei …
status-not-joined = Dieses Gerät ist nicht mehr in der Gruppe
status-left = Dieses Gerät hat die Gruppe verlassen
status-removed = Dieses Gerät wurde aus der Gruppe entfernt
status-destroyed = Die Gruppe wurde aufgelöst
status-store-reset = Dieses Gerät hat neu angefangen und ist nicht mehr in der Gruppe
status-leaving = Die Gruppe wird verlassen …
status-destroying = Die Gruppe wird aufgelöst …
connection-connected = Verbunden über { $relay }
connection-connecting = Verbindung über { $relay } wird hergestellt …
connection-disconnected = Keine Verbindung über { $relay }; es wird weiter versucht
    .action = Prüfe, ob das Relay läuft. Was du schreibst, wartet hier und geht von selbst hinaus.
connection-name-not-found = Den Namen { $relay } kennt dieses Netz nicht
    .action = Prüfe den Namen in der Adresse des Relays und die Verbindung dieses Computers.
connection-refused = Keine Verbindung über { $relay }: Dort läuft kein Relay
    .action = Starte das Relay oder prüfe den Port in seiner Adresse. Was du schreibst, wartet hier.
connection-no-answer = Keine Verbindung über { $relay }: Dort antwortet niemand
    .action = Es ist aus, in einem anderen Netz, oder eine Firewall steht dazwischen. Was du schreibst, wartet hier und geht von selbst hinaus.
connection-something-else = Keine Verbindung über { $relay }: Was dort antwortet, ist kein Relay
    .action = Prüfe den Port in der Adresse des Relays; dort hört ein anderes Programm zu.
connection-wrong-key = Keine Verbindung über { $relay }: Dort antwortet ein anderes Relay; ihm wurde nichts gegeben
    .action = Frage die Person, die das Relay betreibt, nach seiner heutigen Adresse.
connection-no-relay = Diese Gruppe hat noch kein Relay
    .action = Starte ein Relay auf diesem Computer, oder lass dir die Adresse eines anderen geben.
connection-lost = Die Verbindung über { $relay } ist abgebrochen; es wird weiter versucht
    .action = Zu tun ist nichts. Was du schreibst, wartet hier und geht von selbst hinaus.
connection-unavailable = Keine Verbindung über { $relay }: Das Relay kann gerade niemanden bedienen; es wird weiter versucht
    .action = Wer das Relay betreibt, kann sehen, warum; oft ist es eine volle Platte. Was du schreibst, wartet hier.
connection-unsupported = Keine Verbindung über { $relay }: Das Relay braucht eine andere Version von Sealpost
    .action = Aktualisiere das ältere von beiden: Sealpost hier oder das Relay.

## Messages

messages-label = Nachrichten
messages-loading = Die Nachrichten werden geöffnet …
messages-spoken = { $count } neue Nachrichten
message-spoken = { $name }: { $text }
message-mine = Von diesem Gerät
message-unknown = Eine Nachricht, die diese Version nicht zeigen kann
message-show-all = Alles zeigen
message-written = geschrieben am { $moment }
new-messages = Neue Nachrichten
jump-end = Zur neuesten
jump-new = { $count ->
    [one] Eine neue Nachricht
   *[other] { $count } neue Nachrichten
}
day-today = Heute
day-yesterday = Gestern
empty-alone = Bisher ist es nur dieses Gerät
empty-alone-about = Kopple ein zweites Gerät, und was du hier schreibst, kommt dort an.
empty-group = Noch keine Nachrichten
empty-group-about = Was du schreibst, geht an jedes Gerät dieser Gruppe, und sonst kann es niemand lesen. Ein Gerät, das später dazukommt, bekommt nicht, was vorher geschrieben wurde.
composer-label = Nachricht schreiben
composer-left = { $left ->
    [one] noch ein Byte
   *[other] noch { $left } Bytes
}
composer-too-long = Um { $over } Bytes zu lang, höchstens { $max }. Kürze sie oder mache zwei Nachrichten daraus; abgeschnitten wird nichts.
composer-not-member = Geschrieben werden kann hier nichts mehr; die Nachrichten, die dieses Gerät hat, behält es.
send = Senden

## How far an own message has come

delivery-open = Für jedes Gerät zeigen
delivery-nobody = Nur auf diesem Gerät
delivery-waiting = Wartet
    .count = { $count ->
        [one] eine wartet
       *[other] { $count } warten
    }
delivery-sending = Wird übergeben
    .count = { $count ->
        [one] eine wird übergeben
       *[other] { $count } werden übergeben
    }
delivery-on-relay = Auf dem Relay für { $count } von { $total }
delivery-on-relay-one = Auf dem Relay
delivery-failed = Gescheitert
    .count = { $count ->
        [one] eine gescheitert
       *[other] { $count } gescheitert
    }
delivery-too-large = zu groß für das Relay
    .action = Das Relay erlaubt nur kleinere. Sende sie in Teilen.
delivery-malformed = das Relay konnte sie nicht lesen
    .action = Aktualisiere Sealpost auf diesem Gerät und schreibe sie noch einmal.
delivery-expired = 30 Tage lang nicht angenommen
    .action = Das Relay war 30 Tage lang nicht zu erreichen. Prüfe es und schreibe sie noch einmal.
detail-title = Wo diese Nachricht ist
detail-written = Geschrieben am { $moment }
detail-nobody = Als du das geschrieben hast, war sonst niemand in der Gruppe; es wurde niemandem gegeben.
detail-kept = Geräte holen sie, wenn sie online sind. Das Relay bewahrt sie höchstens bis { $date } auf.
detail-no-receipt = „Auf dem Relay“ ist alles, was Sealpost wissen kann. Ob eine Nachricht geholt oder gelesen wurde, sagt kein Gerät.

## Members

members-title = { $count ->
    [one] Mitglieder: nur dieses Gerät
   *[other] Mitglieder ({ $count })
}
members-about = Alle Geräte einer Gruppe sind gleich: Keines ist das Hauptgerät.
fingerprint = Fingerabdruck

## The relay

relay-title = Relay
relay-of-group = Relay dieser Gruppe
relay-address = Adresse
relay-run = Ein Relay auf diesem Computer betreiben
relay-line-off = Relay hier: aus
relay-line-starting = Relay hier: startet …
relay-line-on = { $count ->
    [0] Relay hier: an
    [one] Relay hier: an, eine wartet
   *[other] Relay hier: an, { $count } warten
}
relay-line-failed = Relay hier: läuft nicht
relay-off-about = Ein Relay bewahrt Nachrichten auf, bis die anderen Geräte sie holen. Lesen kann es sie nicht. Solange es aus ist, warten die Gruppen, die es benutzen.
relay-on-about = Geräte erreichen es, solange dieser Computer an und im selben Netz ist. Eine Firewall muss die Ports { $receive } und { $push } hereinlassen.
relay-waiting = Darin warten
relay-waiting-count = { $count ->
    [0] keine
    [one] eine Nachricht
   *[other] { $count } Nachrichten
}
relay-bytes = Belegter Platz
relay-devices = Verbundene Geräte
relay-port-receive = Port zum Empfangen
relay-port-push = Port zum Senden
relay-addresses = Zu erreichen unter
relay-no-address = Dieser Computer ist gerade in keinem Netz.

## Keychain and passphrase

keychain-missing = Auf diesem Computer gibt es keinen Schlüsselbund
    .why = Sealpost bewahrt seine Schlüssel im Schlüsselbund des Systems auf, und hier antwortet keiner.
    .action = Starte den Dienst dafür (etwa GNOME Keyring oder KWallet) und versuche es noch einmal.
keychain-locked = Der Schlüsselbund ist gesperrt
    .why = Die Schlüssel von Sealpost sind darin, und er hat sich nicht geöffnet.
    .action = Entsperre ihn mit seinem Passwort, meist dem der Anmeldung, und versuche es noch einmal.
keychain-dismissed = Die Frage nach dem Passwort des Schlüsselbunds wurde geschlossen
    .why = Ohne den Schlüsselbund kommt Sealpost nicht an seine Schlüssel.
    .action = Versuche es noch einmal und beantworte diesmal die Frage.
keychain-damaged = Die Schlüssel dieses Profils fehlen im Schlüsselbund oder sind beschädigt
    .why = Das Profil ist da, aber sein Eintrag im Schlüsselbund ist weg oder nicht zu lesen.
    .action = Wurde der Schlüsselbund wiederhergestellt oder ersetzt, bringe den alten zurück und versuche es noch einmal. Sealpost fängt nicht von sich aus mit neuen Schlüsseln an.
keychain-other-profile = Die Schlüssel im Schlüsselbund gehören zu einem anderen Profil
    .why = Die Daten hier und der Eintrag im Schlüsselbund passen nicht zusammen, etwa nach dem Kopieren eines Datenverzeichnisses.
    .action = Bringe das Datenverzeichnis oder den Schlüsselbund zurück, die zusammengehören, und versuche es noch einmal.
keychain-trying = Der Schlüsselbund wird gefragt …
keychain-still = Um { $time } noch einmal versucht: immer noch dasselbe.
keychain-use-passphrase = Stattdessen eine Passphrase benutzen
keychain-data-safe = Deine Gruppen und Nachrichten sind unberührt und bleiben zu, bis die Schlüssel wieder da sind.
passphrase-title = Sealpost entsperren
passphrase-about = Die Schlüssel dieses Profils liegen in einer Datei, die deine Passphrase schützt.
passphrase-label = Passphrase
passphrase-again = Noch einmal dieselbe Passphrase
passphrase-show = Zeigen, was ich tippe
passphrase-differs = Die beiden sind noch nicht gleich.
passphrase-unlock = Entsperren
passphrase-choose = Diese Passphrase benutzen
passphrase-choose-title = Die Schlüssel in einer geschützten Datei aufbewahren
passphrase-choose-about = Du tippst diese Passphrase bei jedem Start von Sealpost. Niemand kann sie dir zurückholen: Ist sie vergessen, bleibt zu, was hier gespeichert ist.
passphrase-busy = Einen Moment …

## About

about-title = Über Sealpost
about-what = Sealpost bringt Nachrichten zwischen deinen eigenen Geräten und kleinen Gruppen. Sie werden auf dem Gerät versiegelt, das sie schreibt, und auf den Geräten der Gruppe geöffnet; das Relay dazwischen sieht weder Text noch Namen.
about-states = Von einer Nachricht sagt es nur, was es weiß: wartet, wird übergeben, auf dem Relay, oder gescheitert und warum.
about-licence = Freie Software unter der MIT- oder der Apache-2.0-Lizenz.
version-app = Sealpost
version-transport = Transport
version-end-to-end = End-to-End

## Tray

tray-show = Sealpost zeigen
tray-relay = Relay auf diesem Computer
tray-quit = Beenden
tray-hidden = Sealpost läuft im Infobereich weiter
    .about = Nachrichten kommen weiter an. Beenden lässt es sich dort mit „Beenden“.
tray-status-ready = Verbunden
tray-status-waiting = Keine Verbindung; Nachrichten warten
tray-status-closed = Noch nicht geöffnet
tray-status-no-group = Noch keine Gruppe
tray-status-partly = { $connected } von { $groups } Gruppen verbunden

## Errors: groups and pairing

error-internal = In Sealpost ist etwas schiefgegangen
    .why = Das ist ein Fehler des Programms, nicht deiner.
    .action = Versuche es noch einmal. Bleibt er, beende Sealpost und starte es neu.
error-closed = Sealpost wird beendet
    .why = Es räumt gerade auf und nimmt nichts Neues an.
    .action = Starte es noch einmal.
error-already-in-group = Dieses Gerät ist schon in dieser Gruppe
    .why = Es ist beigetreten oder hat um Aufnahme gebeten.
    .action = Suche die Gruppe in deiner Liste.
error-group-full = Die Gruppe ist voll
    .why = Eine Gruppe fasst höchstens { $max } Geräte.
    .action = Entferne ein Gerät, das nicht mehr benutzt wird, und versuche es noch einmal.
error-group-worn-out = Die Gruppe nimmt niemanden mehr auf
    .why = Sie hat { $max } Geräte entfernt und merkt sich jedes davon für immer.
    .action = Lege eine neue Gruppe an und kopple die Geräte dort.
error-not-listed = Die Gruppe führt dieses Gerät im Moment nicht
    .why = Geräte haben gleichzeitig etwas geändert, und die Änderungen sind noch nicht zusammengekommen.
    .action = Warte, bis die anderen Geräte online waren, und versuche es noch einmal.
error-manifest-awaited = Hier fehlt noch eine Nachricht über die Gruppe
    .why = Die Änderung eines anderen Geräts, auf der diese aufbaut, ist noch unterwegs.
    .action = Warte kurz und versuche es noch einmal. Wolltest du gehen, macht Sealpost das von selbst, solange es läuft.
error-versions-exhausted = Die Mitglieder dieser Gruppe lassen sich nicht mehr ändern
    .why = Ihre Mitgliederliste hat die letzte Version erreicht, die es gibt.
    .action = Lege eine neue Gruppe an und kopple die Geräte dort.
error-group-unknown = Diese Gruppe ist nicht mehr hier
    .why = Sie wurde inzwischen verlassen oder entfernt.
    .action = Wähle eine andere Gruppe aus der Liste.
error-not-member = Dieses Gerät ist nicht in der Gruppe
    .why = Es ist gegangen, wurde entfernt oder noch nicht aufgenommen.
    .action = Um hineinzukommen, lass dir einen Kopplungscode geben.
error-pairing-closed = Dieser Kopplungscode ist geschlossen
    .why = Seine zehn Minuten sind um, er wurde benutzt, oder seine Seite wurde verlassen.
    .action = Hole einen neuen Code.
error-request-unknown = Das Gerät, das gefragt hat, wartet nicht mehr
    .why = Es hat abgebrochen oder schon eine Antwort bekommen.
    .action = Lass es einen neuen Code benutzen.
error-name-empty = Dieses Gerät hat noch keinen Namen
    .why = Die anderen Geräte einer Gruppe müssen es irgendwie nennen.
    .action = Tippe einen Namen ein.
error-clipboard-unavailable = Der Text konnte nicht kopiert werden
    .why = Die Zwischenablage des Systems hat ihn nicht angenommen.
    .action = Markiere den Text und kopiere ihn selbst.

## Errors: the code that was entered

error-invitation-invalid = Das ist kein Kopplungscode
    .why = Es lässt sich nicht als einer lesen.
    .action = Kopiere den ganzen Link noch einmal, von trueseal:// bis zum Ende.
error-invitation-invalid-length = Das ist zu lang für einen Kopplungscode
    .why = Ein Code hat einige hundert Zeichen; eingefügt wurden mehr.
    .action = Kopiere nur den Link, von trueseal:// bis zum Ende.
error-invitation-invalid-empty = Noch ist kein Code da
    .why = Was eingefügt wurde, ist nichts als Leerraum.
    .action = Kopiere den Link auf dem anderen Gerät und füge ihn hier ein.
error-invitation-invalid-scheme = Das ist kein Kopplungslink
    .why = Ein Kopplungslink beginnt mit trueseal://, und dieser beginnt mit etwas anderem.
    .action = Kopiere den Link, den das andere Gerät unter seinem Code zeigt.
error-invitation-invalid-key = Der Schlüssel des Relays in diesem Link ist beschädigt
    .why = Der Teil zwischen trueseal:// und @ ist unvollständig oder wurde verändert.
    .action = Kopiere den ganzen Link noch einmal; tippe ihn nicht ab.
error-invitation-invalid-host = Die Adresse des Relays in diesem Link ist beschädigt
    .why = Der Teil nach @ ist weder Name noch Nummer eines Computers.
    .action = Kopiere den ganzen Link noch einmal.
error-invitation-invalid-port = Ein Port in diesem Link ist beschädigt
    .why = Ein Port ist eine Zahl von 1 bis 65535.
    .action = Kopiere den ganzen Link noch einmal.
error-invitation-invalid-query = An diesen Link wurde etwas angehängt
    .why = Eine andere App hat eigene Angaben hineingeschrieben oder welche abgeschnitten.
    .action = Schicke den Link anders, etwa als einfachen Text, oder nimm das Bild.
error-invitation-invalid-token = Der letzte Teil dieses Links ist beschädigt
    .why = Der Teil nach # ist unvollständig oder wurde verändert, und sei es nur in einem Buchstaben.
    .action = Kopiere den ganzen Link noch einmal, bis ganz zum Ende.
error-invitation-invalid-wrapped = Dieser Link ist über mehrere Zeilen zerbrochen
    .why = Ein Mailprogramm hat eigene Zeichen zwischen seine Teile gesetzt.
    .action = Entferne alles, was nicht zum Link gehört, oder nimm das Bild.
error-invitation-is-own = Das ist der Code dieses Geräts selbst
    .why = Ein Code lässt ein anderes Gerät herein; auf dem eigenen führt er nirgendwohin.
    .action = Benutze ihn auf dem anderen Gerät, oder gib den Code ein, den das andere zeigt.
error-image-holds-no-code = In diesem Bild ist kein Kopplungscode
    .why = Nichts darin ließ sich als einer lesen; vielleicht ist er unscharf, angeschnitten oder zu klein.
    .action = Nimm ein Bild des ganzen Codes mit seinem weißen Rand, oder füge den Link ein.
error-image-unreadable = Dieses Bild lässt sich nicht öffnen
    .why = Es ist weder eine PNG- noch eine JPEG-Datei oder beschädigt.
    .action = Speichere es als PNG oder JPEG, oder füge den Link ein.

## Errors: the relay

error-relay-address-invalid = Das ist keine Relay-Adresse
    .why = Es lässt sich nicht als eine lesen.
    .action = Kopiere sie noch einmal von der Person, die das Relay betreibt; sie beginnt mit trueseal://.
error-relay-address-invalid-length = Das ist zu lang für eine Relay-Adresse
    .why = Eine Adresse hat einige hundert Zeichen; eingefügt wurden mehr.
    .action = Kopiere nur die Adresse, von trueseal:// bis zum Ende.
error-relay-address-invalid-wrapped = In dieser Relay-Adresse stehen Zeichen, die nicht hineingehören
    .why = Sie wurde über mehrere Zeilen zerbrochen, oder etwas geriet zwischen ihre Teile.
    .action = Entferne, was nicht hineingehört, oder kopiere die Adresse noch einmal als einfachen Text.
error-relay-address-invalid-empty = Noch ist keine Relay-Adresse da
    .why = Das Feld ist leer.
    .action = Füge die Adresse des Relays ein; sie beginnt mit trueseal://.
error-relay-address-invalid-scheme = Das ist keine Relay-Adresse
    .why = Eine Relay-Adresse beginnt mit trueseal://, und diese beginnt mit etwas anderem.
    .action = Kopiere sie noch einmal von der Person, die das Relay betreibt.
error-relay-address-invalid-key = Der Schlüssel in dieser Relay-Adresse ist beschädigt
    .why = Der Teil zwischen trueseal:// und @ ist unvollständig oder wurde verändert.
    .action = Kopiere die ganze Adresse noch einmal; tippe sie nicht ab.
error-relay-address-invalid-host = Der Computer in dieser Relay-Adresse ist beschädigt
    .why = Der Teil nach @ ist weder Name noch Nummer eines Computers.
    .action = Kopiere die ganze Adresse noch einmal.
error-relay-address-invalid-port = Ein Port in dieser Relay-Adresse ist beschädigt
    .why = Ein Port ist eine Zahl von 1 bis 65535.
    .action = Kopiere die ganze Adresse noch einmal.
error-relay-address-invalid-query = An diese Relay-Adresse wurde etwas angehängt
    .why = Nach dem ? darf nur „push=“ mit einem Port stehen.
    .action = Kopiere die Adresse noch einmal als einfachen Text.
error-relay-needed = Dieser Code nennt kein Relay
    .why = Es ist der bloße Code ohne die Adresse eines Relays.
    .action = Tippe die Adresse des Relays darunter ein, oder lass dir den ganzen Link geben.
error-relay-port-in-use = Ein anderes Programm benutzt Port { NUMBER($port, useGrouping: 0) }
    .why = Das Relay auf diesem Computer braucht seine Ports für sich. Oft ist es ein anderes Relay, das noch läuft.
    .action = Beende das andere Programm und schalte das Relay dann wieder ein.
error-relay-port-forbidden = Das Relay darf Port { NUMBER($port, useGrouping: 0) } nicht benutzen
    .why = Das System hält diesen Port für andere frei.
    .action = Diesem Benutzer den Port erlauben, dann das Relay wieder einschalten.
error-relay-data-not-writable = Das Relay kann seine Daten nicht schreiben
    .why = Ihr Verzeichnis gehört jemand anderem, ist schreibgeschützt, oder die Platte ist voll.
    .action = Behebe das und schalte das Relay dann wieder ein. Was es aufbewahrt hat, ist noch da.
error-relay-store-unusable = Das Relay kann seine Daten nicht öffnen
    .why = Die Dateien sind beschädigt, nicht beschreibbar oder von einer neueren Version.
    .action = Schaffe Platz oder aktualisiere Sealpost und schalte das Relay dann wieder ein. Was es aufbewahrt hat, blieb, wie es war.

## Errors: messages

error-message-empty = Es gibt nichts zu senden
    .why = Die Nachricht ist leer.
    .action = Schreibe etwas.
error-message-too-large = Diese Nachricht ist zu lang
    .why = Sie hat { $size } Bytes, und { $max } sind erlaubt.
    .action = Kürze sie oder mache zwei Nachrichten daraus. Abgeschnitten wurde nichts.

## Errors: data, keychain, passphrase

error-storage = Die Daten der Gruppe lassen sich nicht lesen oder schreiben
    .why = Die Platte ist vielleicht voll oder schreibgeschützt, oder die Datei ist beschädigt oder mit einem anderen Schlüssel geöffnet.
    .action = Schaffe Platz und starte Sealpost noch einmal. Gelöscht wurde nichts.
error-storage-full = Die Platte ist voll
    .why = Die Daten der Gruppe brauchen zum Schreiben etwas mehr Platz.
    .action = Schaffe Platz und versuche es noch einmal. Gelöscht wurde nichts.
error-storage-damaged = Die Daten der Gruppe lassen sich nicht öffnen
    .why = Die Datei ist beschädigt oder gehört zu anderen Schlüsseln.
    .action = Hole sie aus einer Sicherung zurück. Gelöscht wurde nichts.
error-storage-in-use = Die Daten der Gruppe sind in Gebrauch
    .why = Ein anderes Programm hat sie offen.
    .action = Schließe das andere Programm und versuche es noch einmal.
error-store-too-new = Diese Daten sind von einem neueren Sealpost
    .why = Ihr Format ist neuer, als diese Version kennt; sie würde sie beschädigen.
    .action = Aktualisiere Sealpost. Geändert wurde nichts.
error-profile-damaged = Die Einstellungen dieses Profils sind beschädigt
    .why = Die Datei des Profils selbst ist nicht zu verstehen.
    .action = Hole sie aus einer Sicherung zurück. Gelöscht wurde nichts.
error-profile-too-new = Dieses Profil ist von einem neueren Sealpost
    .why = Sein Format ist { $found }, und diese Version kennt { $known }.
    .action = Aktualisiere Sealpost. Geändert wurde nichts.
error-profile-in-use = Dieses Profil ist schon offen
    .why = Ein anderes Sealpost, im Fenster oder auf der Kommandozeile, arbeitet damit.
    .action = Nimm das andere, oder beende es und starte neu.
error-profile-name-invalid = So kann ein Profil nicht heißen
    .why = Der Name eines Profils hat 1 bis 64 Buchstaben, Ziffern, - oder _.
    .action = Starte Sealpost mit einem anderen Namen nach --profile.
error-profile-not-writable = Das Datenverzeichnis lässt sich nicht beschreiben
    .why = Es gehört jemand anderem, ist schreibgeschützt, oder die Platte ist voll.
    .action = Behebe das, oder nenne mit --data-dir ein anderes. Geändert wurde nichts.
error-keys-too-new = Die Schlüssel stammen von einem neueren Sealpost
    .why = Eine neuere Fassung hat sie gespeichert, und diese kann sie nicht lesen.
    .action = Sealpost aktualisieren. Nichts wurde geändert.
error-key-file-unusable = Die Datei mit den Schlüsseln ist nicht zu benutzen
    .why = Sie ist nicht zu lesen oder zu schreiben oder ist beschädigt.
    .action = Den Datenträger und die Rechte am Datenverzeichnis prüfen, dann Sealpost neu starten.
error-key-file-unusable-exposed = Andere an diesem Computer können die Datei mit den Schlüsseln lesen
    .why = Nur ihre Rechte schützen sie, und die lassen andere hinein.
    .action = Nur dem Besitzer das Lesen erlauben (Modus 600), dann Sealpost neu starten.
error-profile-not-writable-permission-denied = Das Datenverzeichnis darfst du nicht beschreiben
    .why = Es gehört jemand anderem, oder seine Rechte verbieten es.
    .action = Richte die Rechte, oder nenne mit --data-dir ein anderes. Geändert wurde nichts.
error-profile-not-writable-read-only = Das Datenverzeichnis ist schreibgeschützt
    .why = Seine Platte wurde nur zum Lesen geöffnet.
    .action = Nenne mit --data-dir ein anderes. Geändert wurde nichts.
error-profile-not-writable-not-a-directory = Wo die Daten sein sollten, ist kein Verzeichnis
    .why = Ein Teil dieses Pfads ist eine Datei.
    .action = Räume die Datei weg, oder nenne mit --data-dir einen anderen Ort. Geändert wurde nichts.
error-profile-not-writable-full = Die Platte ist voll
    .why = Für die Daten dieses Profils ist kein Platz mehr.
    .action = Schaffe Platz und starte neu. Geändert wurde nichts.
error-keychain-unusable = Der Schlüsselbund ist nicht zu benutzen
    .why = Sealpost bewahrt seine Schlüssel darin auf.
    .action = Entsperre oder starte ihn und versuche es noch einmal.
error-passphrase-wrong = Diese Passphrase öffnet die Schlüssel nicht
    .why = Es ist nicht die, mit der sie verschlossen wurden.
    .action = Prüfe Großbuchstaben und die Sprache der Tastatur, und versuche es noch einmal.
error-passphrase-too-short = Diese Passphrase ist zu kurz
    .why = Sie braucht mindestens { $min } Zeichen.
    .action = Mache sie länger; vier oder fünf Wörter sind gut.

## Fehler: Dateien, Einstellungen, Links

error-backup-unreadable = Diese Datei ist keine lesbare Sicherung
    .why = Sie ist beschädigt, stammt von etwas anderem, oder die Passphrase gehört nicht zu dieser Sicherung.
    .action = Prüfe die Passphrase oder wähle eine andere Datei. Nichts wurde geändert.
error-file-unreadable = Die Datei kann nicht gelesen werden
    .why = Sie ist vielleicht nicht mehr da oder gehört jemand anderem.
    .action = Wähle eine andere Datei.
error-file-unwritable = Die Datei kann nicht geschrieben werden
    .why = Der Ort ist vielleicht voll, schreibgeschützt oder gehört jemand anderem.
    .action = Wähle einen anderen Ort. Nichts wurde gespeichert.
error-group-name-invalid = So kann keine Gruppe heißen
    .why = Ein Name hat 1 bis { $max } Bytes und etwas Sichtbares darin.
    .action = Wähle einen anderen Namen.
error-group-not-over = Dieses Gerät ist noch in der Gruppe
    .why = Der Verlauf lässt sich löschen, wenn die Gruppe für dieses Gerät zu Ende ist.
    .action = Verlasse zuerst die Gruppe.
error-link-refused = Dieser Link wurde nicht geöffnet
    .why = Nur Adressen, die mit http oder https beginnen, werden geöffnet.
    .action = Kopiere ihn und sieh ihn dir genau an, bevor du ihn anderswo benutzt.
error-member-unknown = Dieses Gerät ist nicht mehr in der Gruppe
    .why = Es hat sie inzwischen verlassen oder wurde entfernt.
    .action = Nichts zu tun.
error-message-unknown = Diese Nachricht ist nicht mehr da
    .why = Sie wurde auf diesem Gerät gelöscht.
    .action = Nichts zu tun.
error-not-available = Das kann diese Version noch nicht
    .why = Es kommt mit einer späteren Version.
    .action = Aktualisiere Sealpost, wenn es eine gibt.
error-relay-ports-invalid = Diese Ports gehen nicht
    .why = Es müssen zwei verschiedene Zahlen von 1 bis 65535 sein.
    .action = Wähle andere Zahlen.
error-start-at-login-unavailable = Sealpost kann nicht beim Anmelden starten
    .why = Der Eintrag dafür lässt sich nicht schreiben.
    .action = Prüfe, wer deinen Konfigurationsordner beschreiben darf, und versuche es noch einmal.

## Delivery issues

issue-unreadable-malformed = Etwas kam an, das keine Nachricht ist
    .why = Seine Bytes sind beschädigt oder waren nie für dieses Gerät bestimmt. Das kann jeder auslösen, der den Schlüssel dieses Geräts kennt.
    .action = Nichts zu tun. Geschieht es oft, sage es der Person, die das Relay betreibt.
issue-unreadable-sender-outdated = Eine Nachricht kam von einer zu alten Version
    .why = Das Sealpost des Absenders schreibt ein Format, das dieses nicht mehr liest.
    .action = Aktualisiere Sealpost auf dem anderen Gerät und sende die Nachricht noch einmal.
issue-unreadable-expired = Eine Nachricht war mehr als 60 Tage alt
    .why = Eine so alte Kopie wird nicht angenommen, damit niemand sie wiederholen kann. Auch die Uhr eines der beiden Geräte kann falsch gehen.
    .action = Prüfe beide Uhren. Ist die Nachricht wichtig, lass sie noch einmal senden.
issue-unreadable-dropped-while-held = Eine Nachricht, die auf ein Update wartete, ist verloren
    .why = Mehr als 100 Nachrichten einer neueren Version warteten auf dieses Gerät; die älteste wich.
    .action = Aktualisiere Sealpost jetzt. Jede weitere Nachricht verdrängt eine andere.
issue-unauthorized = Etwas kam von jemandem, der es nicht senden darf
    .why = Der Absender gehört nicht oder nicht mehr zur Gruppe.
    .action = Nichts zu tun. Fehlt ein Gerät der Gruppe in der Liste der Mitglieder, kopple es neu.
issue-held-for-upgrade = Eine Nachricht wartet auf ein Update
    .why = Sie wurde von einer neueren Version von Sealpost geschrieben. Sie wartet auf dem Relay, höchstens 30 Tage.
    .action = Aktualisiere Sealpost auf diesem Gerät. Noch ist nichts verloren.
issue-handler-gave-up = Eine Nachricht ließ sich nicht verarbeiten
    .why = Fünf Versuche sind fehlgeschlagen.
    .action = Melde das als Fehler. Lass die Nachricht noch einmal senden, sobald er behoben ist.
issue-send-failed-too-large = Eine Nachricht wurde nicht zugestellt: Sie ist zu groß
    .why = Dieses Relay nimmt nur kleinere Nachrichten an.
    .action = Teile sie und sende die Teile.
issue-send-failed-malformed = Eine Nachricht wurde nicht zugestellt: Das Relay kann sie nicht lesen
    .why = Das sollte nicht vorkommen: Dieses Programm oder das Relay hat einen Fehler.
    .action = Melde es als Fehler und sende die Nachricht noch einmal.
issue-send-failed-expired = Eine Nachricht wurde nicht zugestellt: 30 Tage sind vergangen
    .why = Das Relay nahm sie diesem Gerät in all diesen Tagen nicht ab.
    .action = Prüfe die Verbindung zum Relay und sende sie noch einmal.
issue-id-reused = Zwei verschiedene Nachrichten tragen eine Nummer
    .why = Das Gerät des Absenders gibt es zweimal, oder sein Programm hat einen Fehler. Nur die erste Nachricht wurde gezeigt.
    .action = Bitte den Absender, die zweite noch einmal zu senden und nur ein Gerät zu benutzen.
issue-device-copied = Dieses Gerät läuft zweimal
    .why = Ein anderes Programm benutzt die Schlüssel dieses Geräts: Sein Profil wurde kopiert. Das Relay gibt jede Nachricht an eines der beiden, so dass beiden welche fehlen können.
    .action = Beende eines der beiden und lösche sein Profil. Um beide Computer zu benutzen, kopple den zweiten als eigenes Gerät.
issue-store-restored = Die Daten dieser Gruppe sind älter als ihre Schlüssel
    .why = Sie stammen aus einer Sicherung oder sind eine Kopie, und eine andere wurde seither benutzt. Nachrichten, die inzwischen ankamen, fehlen hier.
    .action = Wird eine andere Kopie dieses Profils noch benutzt, beende eine von beiden. Lass fehlende Nachrichten noch einmal senden.
issue-store-repaired = Die Daten dieser Gruppe waren beschädigt und sind repariert
    .why = Ein Teil ihrer Datei war nicht lesbar, vielleicht weil die Platte versagt. Was lesbar war, wurde übernommen; die alte Datei wurde behalten.
    .action = Prüfe die Platte. Nachrichten, die jetzt fehlen, können andere noch einmal senden.
