# Die Wörter von Sealpost, für das Fenster, das Symbol in der Leiste und die Mitteilungen.
#
# Wörter für Menschen: Gerät, Gruppe, Relay, Kopplungscode, „auf dem Relay“, wartet,
# entfernt, Zustellproblem, „dieser Computer“. Ein Fehler hat drei Teile: was geschehen
# ist (der Wert), .why (warum) und .action (was jetzt). Die Schlüssel sind in allen
# Sprachen dieselben; ein Test vergleicht sie.

## Dateien

file-code = sealpost-code.png
file-backup = Sealpost-Sicherung
file-picture = Bild
file-text = Text

## Benachrichtigungen

notification-something = Es gibt etwas Neues
notification-attention = Etwas braucht dich
notification-who =
    { $count ->
        [one] Eine Nachricht von { $author }
       *[other] { $others ->
            [0] { $count } Nachrichten von { $author }
            [one] { $count } Nachrichten, die letzte von { $author }
           *[other] { $count } Nachrichten, die letzte von { $author }
        }
    }
notification-text =
    { $more ->
        [0] { $author }: { $text }
        [one] { $author }: { $text } (und { $more } davor)
       *[other] { $author }: { $text } (und { $more } davor)
    }
notification-unknown = { $author } hat etwas geschickt, das diese Version nicht zeigen kann
notification-issues =
    { $count ->
        [one] Eine Nachricht kam nicht an, wie sie sollte
       *[other] { $count } Zustellprobleme
    }
    .about = Öffne die Liste, um zu sehen, was geschah und was zu tun ist.

## Words used everywhere

back = Zurück
close = Schließen
copied = Kopiert
copy = Kopieren
quit = Beenden
try-again = Noch einmal versuchen
error-code = Code: { $code }
this-device = Dieses Gerät
cancel = Abbrechen
save = Speichern
show-more = Mehr zeigen
as-system = Wie im System
confirm-does = Was dabei geschieht
confirm-does-not = Was nicht geschieht

## Starting, and when nothing can be opened

starting = Deine Gruppen werden geöffnet …
failed-title = Sealpost kann deine Gruppen nicht öffnen
failed-ways = Du kannst daneben eine Sicherung einspielen und exportieren, was sich noch lesen lässt.
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
way-join-about = Mit einem Code, den ein anderes Gerät zeigt. Eine Kamera braucht es nicht.
way-join-link = Als Link einfügen
way-join-picture = Als Bild öffnen
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
pair-show-needs-group = Für welche Gruppe?
    .about = Ein Code holt ein Gerät in eine Gruppe. Wähle die Gruppe oder beginne eine.
pair-show-no-group = Es gibt noch keine Gruppe
    .about = Ein Code holt ein Gerät in eine Gruppe: Beginne zuerst eine.
qr-label = Kopplungscode als Bild
pair-how = So geht das Koppeln
pair-how-open = Wähle auf dem anderen Gerät „Mit einem Code beitreten“.
pair-how-give = Zeig ihm dieses Bild oder schick ihm diesen Link.
pair-how-compare = Vergleicht vier Wörter auf beiden Bildschirmen, dann nimm an.
enter-how-ask = Wähle auf einem Gerät der Gruppe „Gerät koppeln“.
enter-how-give = Bring seinen Link oder sein Bild hierher.
enter-how-compare = Vergleicht vier Wörter auf beiden Bildschirmen.
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
request-looks-like = Vorsicht: Dieser Name sieht aus wie der von { $member } aus der Gruppe. Nur die vier Wörter zeigen, welches Gerät es ist.
request-stale-accepted = { $name } kam mit einem Code, der schon ein anderes Gerät aufgenommen hat, und wartet vergebens: Zeig ihm einen neuen Code.
request-stale-closed = { $name } kam mit einem Code, der geschlossen ist, und wartet vergebens: Zeig ihm einen neuen Code.
admission-dropped-full = { $name } ist doch nicht in der Gruppe: Gleichzeitig wurden andere aufgenommen, und die Gruppe ist voll.
admission-dropped-removed = { $name } ist doch nicht in der Gruppe: Es wurde inzwischen entfernt.
cohesion-unlisted = Die anderen führen dieses Gerät gerade nicht in ihrer Liste. Was es sendet, wartet, bis sie es tun.
cohesion-admission-void = Das Gerät, das dieses aufgenommen hat, wurde gleichzeitig entfernt. Darum zählen die anderen dieses nicht dazu. Verlass die Gruppe und tritt neu bei, mit einem Code von einem Gerät, das in ihr ist.
cohesion-cut-off = Das Gerät, das dieses aufgenommen hat, ist fort, und von den übrigen war noch nichts zu hören. Vielleicht sind sie offline. Bleibt es so, ist die Gruppe zerfallen: Verlass sie und tritt neu bei, mit einem Code von einem der anderen.
request-spoken = { $name } bittet um Aufnahme. Die Wörter: { $words }
words-label = Vier Wörter
code-save = Bild speichern
code-saved = Das Bild wurde gespeichert.

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
words-different-about = Sind sie verschieden, ist vielleicht jemand dazwischen. Mit „Verschieden“ endet es hier, und dieses Gerät tritt nicht bei.
join-wait-title = Gleich geschafft
join-refused-title = Diese Bitte wurde abgelehnt
join-wait-about = Du hast gesagt, dass diese Wörter gleich sind:
join-wait-accept = Es fehlt noch, dass jemand auf dem anderen Gerät „Aufnehmen“ drückt. Ist der Code geschlossen, wird niemand mehr gefragt: Bitte dann um einen neuen.
join-wait-finish = Die Gruppe wird auf diesem Gerät eingerichtet.
join-wait-sending = Deine Bitte ist auf dem Weg zum Relay.
join-wait-refused = Das Relay hat die Bitte endgültig abgelehnt. Brich den Beitritt ab und versuche es mit einem neuen Code. Hilft das nicht, frag, wer das Relay betreibt.
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
connection-short-none = Keine Verbindung
connection-short-unsupported = Falsche Version
status-short-not-joined = Nicht mehr dabei
status-short-restored = Aus einer Sicherung
status-short-left = Gruppe verlassen
status-short-removed = Wurde entfernt
status-short-admission-void = Nicht aufgenommen
status-short-destroyed = Wurde aufgelöst
status-short-group-full = War voll
status-short-store-reset = Neu angefangen
status-short-leaving = Wird verlassen …
status-short-destroying = Wird aufgelöst …
relay-here = diesen Computer
status-joining = Tritt bei …
status-not-joined = Dieses Gerät ist nicht mehr in der Gruppe
status-restored = Diese Gruppe stammt aus einer Sicherung
status-left = Dieses Gerät hat die Gruppe verlassen
status-removed = Dieses Gerät wurde aus der Gruppe entfernt
status-admission-void = Dieses Gerät wurde doch nicht aufgenommen
status-destroyed = Die Gruppe wurde aufgelöst
status-group-full = Die Gruppe war voll
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
connection-refused-here = Das Relay auf diesem Computer läuft nicht
    .action = Schalte es unten ein, oder lies dort, warum es nicht läuft. Was du schreibst, wartet hier und geht von selbst hinaus.
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
group-name = Name der Gruppe
group-name-hint = Alle in der Gruppe sehen ihn, auch jedes Gerät, das später dazukommt.
group-rename = Gruppe umbenennen
group-renamed = Die Gruppe heißt jetzt { $group }.
members-full = Die Gruppe ist voll: Sie fasst höchstens { $max } Geräte. Entferne eines, das nicht mehr benutzt wird.
clock-ahead = Die Uhr dieses Computers geht um { $span } vor. Stell sie richtig: Mit einer falschen Uhr verfallen Nachrichten zu früh oder werden abgelehnt.
clock-behind = Die Uhr dieses Computers geht um { $span } nach. Stell sie richtig: Mit einer falschen Uhr verfallen Nachrichten zu früh oder werden abgelehnt.
ended-about = Hier kann nichts mehr geschrieben werden; die Nachrichten, die dieses Gerät hat, behält es.
ended-about-restored = Ihre Nachrichten bleiben hier zum Lesen. Hier kommt nichts an, und schreiben lässt sich nichts: Ein eingespieltes Gerät hat neue Schlüssel, damit es keine zweite Kopie des alten sein kann. Um zurückzukommen, bitte um einen Kopplungscode; damit entsteht eine Gruppe neben dieser.
ended-about-left = Was bisher ankam, bleibt hier zum Lesen. Um zurückzukommen, bitte um einen Kopplungscode.
ended-about-leaving = Die anderen erfahren es, sobald das Relay antwortet. Hier kann nichts mehr geschrieben werden; die Nachrichten, die dieses Gerät hat, behält es.
ended-about-destroying = Die anderen erfahren es, sobald das Relay antwortet. Hier kann nichts mehr geschrieben werden; die Nachrichten, die ein Gerät hat, behält es.
ended-about-store-reset = Um zurückzukommen, bitte um einen Kopplungscode, und entferne den alten Eintrag dieses Geräts auf einem anderen.
ended-about-removed = Ein anderes Gerät hat dieses entfernt. Was bisher ankam, bleibt hier zum Lesen; was noch hinausgehen sollte, wurde aufgegeben. Um zurückzukommen, bitte um einen Kopplungscode.
ended-about-admission-void = Das Gerät, das dieses aufgenommen hat, wurde gleichzeitig selbst entfernt; die anderen haben dieses deshalb nie gezählt. Um hineinzukommen, bitte ein Gerät der Gruppe um einen neuen Kopplungscode.
ended-about-group-full = Die Gruppe war voll: Gleichzeitig wurden andere aufgenommen. Jemand muss zuerst Platz machen; bitte dann um einen neuen Code.
ended-about-destroyed = Ein Gerät der Gruppe hat sie für alle beendet. Was bisher ankam, bleibt hier zum Lesen.

## Messages

messages-label = Nachrichten
messages-loading = Die Nachrichten werden geöffnet …
messages-spoken = { $count } neue Nachrichten
message-spoken = { $name }: { $text }
message-mine = Von diesem Gerät
# Behind an author's name: the phone that the message was written on.
message-via = von { $phone }
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
empty-ended = Keine Nachrichten
empty-ended-about = Von dieser Gruppe sind keine Nachrichten auf diesem Gerät.
composer-label = Nachricht schreiben
composer-left = { $left ->
    [one] noch ein Byte
   *[other] noch { $left } Bytes
}
composer-too-long = { $over ->
    [one] Ein Byte zu lang (höchstens { $max }).
   *[other] { $over } Bytes zu lang (höchstens { $max }).
} Kürze die Nachricht oder mache zwei daraus; abgeschnitten wird nichts.
send = Senden
composer-draft-too-long = Ein so langer Entwurf bleibt nur, solange dieses Fenster offen ist (mehr als { $max } Bytes).
message-failed-spoken = Nicht zugestellt: { $text }
message-retry = Nochmals versuchen
message-retry-of = Nochmals versuchen: { $text }
message-retried = Wieder auf dem Weg.
message-copy = Text kopieren
message-copy-of = Text kopieren: { $text }
message-delete = Löschen
message-delete-of = Löschen: { $text }
message-delete-title = Diese Nachricht hier löschen?
message-delete-does = Die Nachricht verschwindet von diesem Gerät, ebenso ihr Eintrag unter den Zustellproblemen.
message-delete-not = Geräte, für die sie auf dem Relay liegt, bekommen sie trotzdem.
message-deleted = Auf diesem Gerät gelöscht.

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
member-title = Gerät
member-since = In der Gruppe seit
member-added-by = Hinzugefügt von
member-added-by-unknown = Diesem Gerät nicht bekannt
member-last = Letzte Nachricht { $when }
member-last-message = Letzte Nachricht
member-no-message = Noch keine Nachricht
member-no-presence = Ob ein Gerät gerade eingeschaltet ist, sieht niemand, außer wer das Relay betreibt.
member-remove = Aus der Gruppe entfernen
member-removed = { $name } wurde entfernt.
compare-title = Vergleichscode
compare-about = Ein Code über die Schlüssel beider Geräte. Zeigt { $name } denselben, ist niemand dazwischen.
compare-show = Code zeigen
compare-how = Öffne auf { $name } die Mitglieder dieser Gruppe, wähle dieses Gerät und vergleiche. Jede Ziffer muss gleich sein; es eilt nicht.
history-title = Verlauf der Mitglieder
history-loading = Der Verlauf wird gelesen …
history-empty = Noch ist nichts geschehen.
history-about = So, wie dieses Gerät davon erfahren hat. Was vor seinem Beitritt geschah, weiß es nicht.
history-added = { $whom ->
    [me] { $actor ->
        [none] Dieses Gerät wurde hinzugefügt
       *[other] { $by } hat dieses Gerät hinzugefügt
    }
   *[other] { $actor ->
        [me] Dieses Gerät hat { $who } hinzugefügt
        [none] { $who } wurde hinzugefügt
       *[other] { $by } hat { $who } hinzugefügt
    }
}
history-removed = { $whom ->
    [me] { $actor ->
        [none] Dieses Gerät wurde entfernt
       *[other] { $by } hat dieses Gerät entfernt
    }
   *[other] { $actor ->
        [me] Dieses Gerät hat { $who } entfernt
        [none] { $who } wurde entfernt
       *[other] { $by } hat { $who } entfernt
    }
}
history-left = { $whom ->
    [me] Dieses Gerät hat die Gruppe verlassen
   *[other] { $who } hat die Gruppe verlassen
}
history-created = { $actor ->
    [me] Dieses Gerät hat die Gruppe begonnen
    [none] Die Gruppe wurde begonnen
   *[other] { $by } hat die Gruppe begonnen
}
history-joined = { $actor ->
    [none] Dieses Gerät ist beigetreten
   *[other] Dieses Gerät ist beigetreten; { $by } hat es eingelassen
}
history-renamed = { $whom ->
    [me] Dieses Gerät hat einen neuen Namen: { $who }
   *[other] Ein Gerät heißt jetzt { $who }
}
history-destroyed = { $actor ->
    [me] Dieses Gerät hat die Gruppe aufgelöst
    [none] Die Gruppe wurde aufgelöst
   *[other] { $by } hat die Gruppe aufgelöst
}
remove-title = { $name } aus { $group } entfernen?
remove-does-shut = { $name } bekommt nichts mehr, was in dieser Gruppe geschrieben wird, und was es schreibt, nimmt niemand mehr an.
remove-does-told = Es erfährt, dass es entfernt wurde, und die anderen erfahren es auch.
remove-not-erase = Die Nachrichten, die { $name } hat, behält es. Dort wird nichts gelöscht.
remove-not-read = Nachrichten, die auf dem Relay schon auf das Gerät warten, kann es noch abholen.
remove-not-final = { $name } kann zurückkommen, mit einem neuen Kopplungscode.
leave-group = Gruppe verlassen
leave-title = { $group } verlassen?
leave-recent = { $name } kam erst vor wenigen Minuten dazu. Wenn du jetzt gehst und anderswo gleichzeitig ein Gerät eingelassen wird, erfahren die beiden vielleicht nie voneinander. Warte besser, bis die anderen online waren.
leave-recent-me = Dieses Gerät kam erst vor wenigen Minuten dazu. Wenn es jetzt geht und anderswo gleichzeitig ein Gerät eingelassen wird, erfahren manche Geräte vielleicht nie voneinander. Warte besser, bis die anderen online waren.
leave-recent-anyway = Ich möchte trotzdem jetzt gehen
leave-does-told = Die anderen Geräte erfahren es und nehmen dieses von ihrer Liste.
leave-does-quiet = Hier kommt nichts mehr an, und es kann nichts mehr geschrieben werden.
leave-does-waiting = Was noch hinausgehen sollte, wird aufgegeben.
leave-does-alone = Die Gruppe endet, da kein anderes Gerät in ihr ist.
leave-not-history = Die Nachrichten auf diesem Gerät bleiben zum Lesen, bis du sie löschst.
leave-not-others = Die Gruppe besteht ohne dieses Gerät weiter, und anderswo wird nichts gelöscht.
destroy-group = Gruppe auflösen
destroy-title = { $group } für alle auflösen?
destroy-does-end = { $count ->
    [one] Die Gruppe endet auf dem einen Gerät in ihr.
   *[other] Die Gruppe endet auf allen { $count } Geräten, sobald jedes online war.
}
destroy-does-keys = Ihre Schlüssel und ihre Mitgliederliste werden auf jedem von ihnen gelöscht.
destroy-does-waiting = Was noch hinausgehen sollte, wird aufgegeben.
destroy-not-history = Die Nachrichten, die ein Gerät hat, behält es zum Lesen.
destroy-not-offline = Ein Gerät, das nie wieder online ist, erfährt nichts davon.
destroy-not-back = Es lässt sich nicht zurücknehmen: Um weiterzumachen, beginne eine neue Gruppe und kopple die Geräte neu.
destroy-understood = Ich verstehe, dass die Gruppe damit für alle endet
forget-group = Auf diesem Computer vergessen
forget-title = Nicht mehr auf das Relay von { $group } warten?
forget-does-end = Die Gruppe endet hier sofort, ohne auf ihr Relay zu warten.
forget-does-unheard = Geräte, die noch nichts davon wissen, führen dieses weiter in ihrer Liste.
forget-does-undestroyed = Geräte, die noch nichts davon wissen, machen mit der Gruppe weiter.
erase-group = Löschen, was hier noch ist
erase-title = { $group } auf diesem Gerät löschen?
erase-does-messages = Alle ihre Nachrichten auf diesem Gerät werden gelöscht und lassen sich nicht zurückholen.
erase-does-list = Die Gruppe verschwindet aus deiner Liste.
erase-not-others = Auf anderen Geräten ändert sich nichts.

## The relay

relay-title = Relay
relay-of-group = Relay dieser Gruppe
relay-path-others = { $count ->
    [0] noch niemand sonst
    [one] ein anderes Gerät
   *[other] { $count } andere Geräte
}
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
relay-first-expiry = Zuerst verfällt
relay-change = Relay wechseln
relay-change-do = Dieses Relay benutzen
relay-changed = Die Gruppe benutzt jetzt ein anderes Relay.
relay-change-others = Die anderen Geräte dieser Gruppe müssen selbst zu diesem Relay wechseln: Gib ihnen seine Adresse. Bis dahin kommt zwischen euch nichts an.
relay-change-kept = Was hier wartet, geht über das neue Relay hinaus. Was schon auf dem alten liegt, bleibt dort, bis es abgeholt wird oder seine Zeit um ist.
relay-share = Adresse teilen
relay-share-title = Adresse des Relays
relay-share-about = Das ist nur die Adresse des Relays. Wer sie hat, kann das Relay benutzen, aber weder der Gruppe beitreten noch etwas lesen.
relay-copy = Adresse kopieren
relay-ports-edit = Ports ändern
relay-ports-about = Das Relay startet mit den neuen Ports neu und behält sie. Geräte, die die alten kennen, brauchen die neue Adresse.
relay-ports-invalid = Es müssen zwei verschiedene Zahlen von 1 bis 65535 sein.
firewall-title = Wenn andere Geräte es nicht erreichen
firewall-about = Eine Firewall muss die TCP-Ports { $receive } und { $push } aus dem lokalen Netz hereinlassen:
firewall-mac = Auf einem Mac erlaube eingehende Verbindungen für Sealpost in den Einstellungen, unter Netzwerk, Firewall. Prüfe auch, ob die Geräte im selben Netz sind, ob kein VPN dazwischen ist und ob das WLAN seine Geräte nicht voneinander trennt (Gastnetze tun das oft).
test-relay = Testen
test-running-all = Wird getestet …
test-step-look-up = Namen nachschlagen
test-step-connect = Verbinden
test-step-protocol = Dieselbe Version sprechen
test-step-key = Schlüssel prüfen
test-step-push = Eine Nachricht abgeben
test-step-receive = Sie zurückbekommen
test-waiting = noch nicht
test-running = läuft …
test-ok = gut
test-failed = gescheitert
test-skipped = nicht getestet
test-took = { $result }, { $ms } ms
test-all-well = Mit diesem Relay ist alles in Ordnung.
test-failed-at = Der Test endete bei „{ $step }“.
relay-test-failed = Dieser Schritt ist nicht gelungen
    .action = Prüfe die Adresse und versuche es gleich noch einmal.
relay-test-name-not-found = Kein Netz kennt diesen Namen
    .action = Prüfe den Namen in der Adresse und die Verbindung dieses Computers.
relay-test-refused = Dort nimmt niemand etwas an
    .action = Starte das Relay, oder prüfe den Port in seiner Adresse.
relay-test-no-answer = Es kam keine Antwort
    .action = Es ist aus, in einem anderen Netz, oder eine Firewall ist dazwischen.
relay-test-something-else = Was dort antwortet, ist kein Relay
    .action = Prüfe den Port; dort lauscht ein anderes Programm.
relay-test-wrong-key = Dort antwortet ein anderes Relay; es hat nichts bekommen
    .action = Frag die Person, die das Relay betreibt, nach seiner heutigen Adresse.
relay-test-unavailable = Das Relay kann gerade niemanden bedienen
    .action = Die Person, die es betreibt, sieht den Grund, oft eine volle Platte.
relay-test-lost = Die Verbindung brach ab
    .action = Versuche es noch einmal; bleibt es so, trennt etwas dazwischen die Verbindungen.
relay-test-relay-version-unsupported = Das Relay spricht eine andere Version
    .action = Aktualisiere, was älter ist: Sealpost hier oder das Relay.
relay-test-refused-too-large = Das Relay nimmt nur kleinere Nachrichten
    .action = Seine Grenze ist niedriger gestellt als üblich; lange Nachrichten scheitern dort.
relay-test-refused-malformed = Das Relay konnte nicht lesen, was es bekam
    .action = Aktualisiere Sealpost und das Relay.
relay-test-refused-inbox-full = Das Relay hält für diesen Test so viel, wie es darf
    .action = Versuche es später noch einmal.
relay-test-refused-rate-limited = Das Relay bittet um eine Pause
    .action = Versuche es in einer Minute noch einmal.
relay-test-refused-unavailable = Das Relay kann gerade nichts annehmen
    .action = Die Person, die es betreibt, sieht den Grund, oft eine volle Platte.
relay-test-refused-internal-error = Das Relay hat selbst einen Fehler
    .action = Die Person, die es betreibt, sieht den Grund in seinem Protokoll.
relay-test-not-delivered = Das Relay nahm eine Nachricht und gab sie nicht heraus
    .action = Prüfe, ob seine beiden Ports zum selben Relay führen.

## Phones

phones-title = Handys
phones-list = Die gekoppelten Handys
phones-none = Noch kein Handy
phones-none-about = Ein Handy braucht keine App: Es scannt mit seiner Kamera einen Code und öffnet eine Seite, die dieser Computer ausliefert. Dort liest und schreibst du in den Gruppen, die du auswählst, solange Handy und Computer im selben Netz sind.
phone-pair = Handy koppeln
phone-pair-again = Neu koppeln
phones-relay-off = Handys kommen über das Relay auf diesem Computer herein, und das ist aus.
phones-relay-failed = Handys kommen über das Relay auf diesem Computer herein, und das kann nicht laufen.
phones-start-relay = Relay einschalten
phones-no-network = Dieser Computer ist in keinem Netz, in dem ein Handy ihn erreichen könnte.
phones-on = Handys hereinlassen
phones-on-about = Solange das Relay läuft, erreichen Handys dieses Netzes den Computer an Port { $port }. Eine Firewall muss ihn hereinlassen.
phones-off-about = Aus: Kein Handy erreicht diesen Computer. Was darauf geschrieben wird, wartet dort.
phones-new-port = Anderen Port benutzen
phones-new-port-title = Für Handys einen anderen Port benutzen?
phones-new-port-does-move = Handys erreichen diesen Computer ab jetzt an einem anderen Port.
phones-new-port-does-pair = Jedes Handy muss neu gekoppelt werden: Für seinen Browser ist ein anderer Port eine andere Seite, in der nichts steht.
phones-new-port-not-groups = Deine Gruppen und die eigenen Ports des Relays bleiben, wie sie sind.

phone-unnamed = Ein Handy
phone-pairing-title = Scanne das mit der Kamera des Handys
phone-network = Kopple nur in einem Netz, dem du vertraust.
phone-network-about = Das Handy lädt seine Seite unverschlüsselt (http): Wer gerade dann verändern kann, was durch dieses Netz geht, könnte ihm eine andere unterschieben und mitlesen. Wer nur mithört, liest nichts.
phone-how-network = Bring das Handy in dasselbe Netz wie diesen Computer.
phone-how-scan = Richte seine Kamera auf den Code und öffne die Adresse, die sie zeigt.
phone-how-compare = Vergleiche dann sechs Ziffern auf beiden Bildschirmen.
phone-code-secret = Wer diesen Code hat, kann sich als dein Handy melden. Er gilt für ein Handy und fünf Minuten.
phone-copy = Adresse kopieren
phone-code-used = Dieser Code ist benutzt
phone-contacted = Ein Handy hat den Code benutzt. Gleich kommen die Ziffern …
phone-compare-title = Sind die Ziffern gleich?
phone-compare = { $name } muss dieselben sechs Ziffern zeigen wie dieser Bildschirm.
phone-compare-why = Weichen sie ab oder zeigt keines deiner Handys welche, hat jemand anderes den Code benutzt.
phone-digits-spoken = Vergleiche die Ziffern mit denen auf { $name }: { $digits }
phone-same = Sie sind gleich
phone-different = Sie weichen ab
phone-finishing-title = { $name } wird gekoppelt
phone-finishing = Warten auf das Handy …
phone-finishing-about = Lass die Seite dort offen. Vielleicht muss auch auf dem Handy noch bestätigt werden, dass die Ziffern gleich sind.

phone-closed-paired = Das Handy ist gekoppelt
    .about = Es sieht die Gruppen, die du ausgewählt hast.
phone-closed-expired = Die fünf Minuten des Codes sind um
    .about = Kein Handy wurde gekoppelt. Kopple es, wenn du es zur Hand hast.
phone-closed-cancelled = Der Code ist geschlossen
    .about = Mit ihm wurde kein Handy gekoppelt.
phone-closed-declined = Das Handy wurde abgewiesen
    .about = Die Ziffern wichen ab, also wurde es nicht hereingelassen. War es deines, kopple es noch einmal. Weichen sie wieder ab, mischt sich jemand in dieses Netz ein: Nimm ein anderes.
phone-closed-two-devices = Zwei Geräte haben diesen Code benutzt
    .about = Keines wurde hereingelassen. Zeig den nächsten Code nur deinem Handy.
phone-closed-mismatch = Was das Handy geschickt hat, passt nicht zusammen
    .about = Es wurde nicht hereingelassen. Kopple noch einmal; geschieht es wieder, mischt sich vielleicht jemand in dieses Netz ein.
phone-closed-failed = Die Kopplung ließ sich nicht festhalten
    .about = Kein Handy wurde gekoppelt. Sieh nach dem Relay auf diesem Computer und kopple dann noch einmal.
phone-closed-phone-gave-up = Die Kopplung wurde auf dem Handy beendet
    .about = Kein Handy wurde gekoppelt. Kopple es noch einmal, wenn du magst.
phone-closed-door-closed = Handys können sich nicht mehr verbinden
    .about = Das Relay oder die Handys wurden inzwischen ausgeschaltet, also führt der Code nirgendwohin.
phone-closed-address-changed = Dieser Computer hat jetzt eine andere Adresse
    .about = Der Code nannte die vorige, also führt er nirgendwohin. Kopple noch einmal, dann gibt es einen neuen.

phone-contact = zuletzt gehört { $ago }
phone-contact-none = noch nichts gehört
phone-waiting = { $count ->
    [one] 1 Sache wartet darauf
   *[other] { $count } Sachen warten darauf
}
phone-unconfirmed = Das Relay hatte verloren, was es für dieses Handy aufbewahrte, und seit dem { $date } kam nichts mehr vom Handy. Vielleicht wurde es dort getrennt. Öffne die Seite; will sie gekoppelt werden, kopple neu.
phone-never-came = Das Koppeln wurde auf diesem Computer unterbrochen, und vom Handy kam nichts. Kommt auch in den nächsten zehn Minuten nichts, verschwindet dieser Eintrag von selbst. Will die Seite des Handys gekoppelt werden, kopple neu.
phone-lost = Das Relay bewahrt für dieses Handy nichts mehr auf. Kopple es neu oder trenne es.
phone-unpaired-there = Es wurde auf dem Handy getrennt.
phone-broken = Die Verbindung zu diesem Handy ist beendet, weil etwas nicht zusammenpasste. Kopple es neu.
phone-address-gone = Gekoppelt wurde es an { $address }, und dort ist dieser Computer nicht mehr. Für den Browser des Handys ist eine andere Adresse eine andere Seite, in der nichts steht: Kopple es neu oder gib diesem Computer seine alte Adresse zurück.
phone-full = Es hat lange nichts geholt, deshalb wartet Neues hier. Es geht hinaus, wenn die Seite auf dem Handy geöffnet wird.
phone-misbehaves = Das Relay antwortet Unsinniges. Schalte es aus und wieder ein.
phone-newer = Die Seite auf dem Handy ist neuer als diese App. Aktualisiere Sealpost.
phone-refused = Das Relay lehnt ab, was diese App für dieses Handy verlangt. Schalte das Relay aus und wieder ein; hilft das nicht, kopple das Handy neu.
phone-storage = Dieser Computer kann nicht festhalten, was an dieses Handy geht. Schaff Platz auf seiner Platte.
phone-rename = { $name } umbenennen
phone-name = Name des Handys
phone-name-hint = Alle in einer Gruppe lesen ihn neben dem, was du auf diesem Handy schreibst.
phone-sees = { $count ->
    [0] Es sieht keine Gruppe
    [one] Es sieht eine Gruppe
   *[other] Es sieht { $count } Gruppen
}
phone-sees-title = Was { $name } sieht
phone-sees-newcomer = Was das Handy sehen wird
phone-sees-later = Auch Gruppen, die später kommen
phone-sees-about = Was es von einer Gruppe zeigt, die ihm genommen wird, vergisst das Handy, sobald seine Seite geöffnet wird.
phone-sees-before = Das Handy zeigt sie, sobald ein zweites Gerät darin ist.
phone-sees-no-groups = Es gibt noch keine Gruppe.
phone-unpair = Trennen
phone-dismiss = Von der Liste nehmen
phone-unpair-title = { $name } trennen?
phone-unpair-does-key = Sein Schlüssel auf diesem Computer wird gelöscht, ebenso sein Fach auf dem Relay mit allem darin.
phone-unpair-does-page = Seine Seite vergisst die Gruppen, sobald sie offen ist und diesen Computer erreicht.
phone-unpair-does-waiting = Was du darauf geschrieben hast und hier nicht angekommen ist, geht verloren.
phone-unpair-not-messages = Die Nachrichten in deinen Gruppen bleiben, auch die auf ihm geschriebenen.
phone-unpair-not-seen = Was darauf gesehen wurde, lässt sich nicht zurückholen. Bis seine Seite wieder offen ist, zeigt sie, was sie hatte.
phone-unpaired-spoken = { $name } ist getrennt

## Keychain and passphrase

locked-title = Sealpost ist gesperrt
locked-about = Seine Gruppen sind zu, bis es entsperrt wird. Was für dieses Gerät bestimmt ist, wartet so lange auf dem Relay.
locked-unlock = Entsperren
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
passphrase-strength-short = Noch zu kurz.
passphrase-strength-weak = Leicht zu erraten. Besser sind mehrere Wörter, die nicht zusammengehören.
passphrase-strength-fair = Brauchbar. Mit einem Wort mehr ist sie gut.
passphrase-strength-good = Gut.
passphrase-unlock = Entsperren
passphrase-choose = Diese Passphrase benutzen
passphrase-choose-title = Die Schlüssel in einer geschützten Datei aufbewahren
passphrase-choose-about = Du tippst diese Passphrase bei jedem Start von Sealpost. Niemand kann sie dir zurückholen: Ist sie vergessen, bleibt zu, was hier gespeichert ist.
passphrase-busy = Einen Moment …
passphrase-current = Die bisherige Passphrase
passphrase-new = Die neue Passphrase
passphrase-change = Passphrase ändern
passphrase-changed = Die Schlüssel liegen jetzt unter der neuen Passphrase.
passphrase-remove = Zurück zum Schlüsselbund
passphrase-remove-about = Die Schlüssel ziehen in den Schlüsselbund dieses Systems um, und die Datei unter der Passphrase wird gelöscht. Die Passphrase wird nicht mehr verlangt.
passphrase-removed = Die Schlüssel liegen jetzt im Schlüsselbund.

## Search

search-title = Suchen
search-label = Wörter, Namen, Teile von Wörtern
search-begin = Wonach suchst du?
search-about = Durchsucht die Nachrichten aller Gruppen auf diesem Gerät und die Namen der Gruppen. Nichts verlässt diesen Computer.
search-busy = Wird gesucht …
search-nothing = Nichts gefunden zu „{ $text }“
search-nothing-about = Versuche es mit weniger Buchstaben. Nachrichten aus der Zeit, bevor dieses Gerät einer Gruppe beitrat, sind nicht hier.
search-found = { $count ->
    [one] Eine Nachricht gefunden
   *[other] { $count } Nachrichten gefunden
}

## The list of delivery issues

issues-title = Zustellprobleme
issues-open-count = { $count ->
    [one] Zustellprobleme: eines
   *[other] Zustellprobleme: { $count }
}
issues-count = { $count ->
    [one] ein Zustellproblem
   *[other] { $count } Zustellprobleme
}
issues-in-group = { $count ->
    [one] In dieser Gruppe gibt es ein Zustellproblem.
   *[other] In dieser Gruppe gibt es { $count } Zustellprobleme.
}
issues-look = Ansehen
issues-loading = Die Liste wird gelesen …
issues-none = Keine Zustellprobleme
issues-none-about = Soweit dieses Gerät weiß, ging unterwegs nichts schief. Geschieht es doch, steht es hier, mit dem Grund.
issues-about = Alles, was unterwegs schiefging, das Neueste zuerst. Ein Eintrag bleibt, bis du ihn abhakst.
issues-label = { $what }, in { $group }
issues-dismiss = Abhaken
issues-dismissed = Abgehakt.
issues-version = Welche Version ist das?
issues-show = Nachricht zeigen

## Settings

settings-title = Einstellungen
settings-notifications = Benachrichtigungen
notify-label = Kommt eine Nachricht an, sagt eine Benachrichtigung
notify-nothing = Nur, dass es etwas Neues gibt
    .about = Weder wer schrieb noch was.
notify-who = Wer schrieb
    .about = Den Namen und die Gruppe, nicht den Text.
notify-text = Wer schrieb und was
    .about = Wer diesen Bildschirm sieht, kann es lesen, und manche Systeme bewahren es auf.
mute-hour = Eine Stunde still
mute-tomorrow = Still bis morgen
muted-until = Still bis { $when }
unmute = Stille beenden
settings-start = Start
start-at-login = Beim Anmelden starten
start-hidden = Ohne Fenster starten
start-hidden-tray = Es wartet dann im Infobereich.
start-hidden-no-tray = Auf dieser Oberfläche zeigt kein Infobereich das Symbol von Sealpost; darum startet es stattdessen mit verkleinertem Fenster.
start-relay = Das Relay mit Sealpost starten
settings-look = Aussehen und Sprache
theme-label = Farben
theme-light = Hell
theme-dark = Dunkel
language-label = Sprache
settings-keys = Schlüssel und Sperre
keys-in-keychain = Die Schlüssel dieses Profils liegen im Schlüsselbund dieses Systems.
keys-in-passphrase = Die Schlüssel dieses Profils liegen in einer Datei unter deiner Passphrase.
keys-in-file = Die Schlüssel dieses Profils liegen in einer Datei ohne Passphrase, die nur dein Benutzer auf diesem Computer lesen kann.
lock-label = Sealpost sperren
lock-never = Nie von selbst
lock-with-system = Wenn der Bildschirm gesperrt wird
lock-after = { $count ->
    [one] Nach einer Minute ohne Benutzung
   *[other] Nach { $count } Minuten ohne Benutzung
}
lock-about = Ein gesperrtes Sealpost fragt nach der Passphrase. Nachrichten warten bis dahin auf dem Relay.
lock-about-keychain = Die Schlüssel liegen im Schlüsselbund: Wer ihn öffnen kann, kann auch Sealpost entsperren. Nachrichten warten bis dahin auf dem Relay.
lock-now = Jetzt sperren
settings-data = Daten
data-directory = Ordner dieses Profils
data-profile = Name des Profils: { $profile }
backup-about = Eine Sicherung enthält alle Gruppen und Nachrichten dieses Profils, versiegelt unter einer eigenen Passphrase.
backup-make = Sichern …
backup-title = Sicherung anlegen
backup-holds = Sie enthält die Gruppen, ihre Nachrichten und deine Einstellungen. Schlüssel enthält sie nicht: Niemand kann sich mit ihr für dich ausgeben.
backup-passphrase = Wähle eine Passphrase für diese Sicherung. Ohne sie kann niemand die Sicherung öffnen, auch du nicht.
backup-choose-place = Speicherort wählen …
backup-working = Die Sicherung wird geschrieben …
backup-done = Die Sicherung ist geschrieben.
backup-done-where = Geschrieben nach
backup-groups = { $count ->
    [one] eine Gruppe
   *[other] { $count } Gruppen
}
backup-messages = { $count ->
    [one] eine Nachricht
   *[other] { $count } Nachrichten
}
backup-counts = { $groups }, { $messages }
backup-left-out = { $count ->
    [one] Eine Gruppe lässt sich nicht öffnen und fehlt darin.
   *[other] { $count } Gruppen lassen sich nicht öffnen und fehlen darin.
}
backup-cancelled = Es wurde keine Sicherung geschrieben.
export = Lesbares exportieren …
export-title = Lesbares exportieren
export-does = Alle Nachrichten, die sich lesen lassen, werden in einen Text geschrieben, auch die von Gruppen, die sich nicht mehr öffnen lassen.
export-clear = Der Text ist nicht versiegelt: Wer die Datei hat, kann ihn lesen.
export-working = Die Nachrichten werden geschrieben …
export-done = Die Nachrichten sind geschrieben.
export-damaged = { $count ->
    [one] Eine Gruppe ist beschädigt: Ein Teil von ihr oder alles lässt sich nicht mehr lesen.
   *[other] { $count } Gruppen sind beschädigt: Ein Teil von ihnen oder alles lässt sich nicht mehr lesen.
}
export-cancelled = Es wurden keine Nachrichten geschrieben.
data-progress = { $done } von { $total } Nachrichten
restore = Sicherung einspielen …
restore-title = Sicherung einspielen
restore-first = Hast du eine Sicherung?
restore-does = Die Gruppen und Nachrichten der Sicherung kommen neben dem zurück, was hier ist. Daran ändert sich nichts.
restore-keys = Ein eingespieltes Gerät hat neue Schlüssel: Seine Nachrichten sind wieder zu lesen, und die Gruppen lassen es mit einem Kopplungscode wieder ein. Zwei Kopien eines Geräts würden einander die Nachrichten wegnehmen.
restore-choose = Sicherung wählen …
restore-choose-other = Andere Datei wählen …
restore-chosen = Die Sicherung
restore-go = Einspielen
restore-working = Die Nachrichten werden zurückgeholt …
restore-done = Eingespielt: { $groups }, { $messages }.
restore-cancelled = Es wurde nichts eingespielt.
settings-help = Hilfe
bundle-title = Bericht für Helfende
bundle-about = Das ist alles, was gespeichert würde, für jemanden, der dir hilft. Es enthält keinen Text, keinen Namen, keinen Schlüssel und keine Adresse.
bundle-making = Wird gesammelt …
bundle-save = Speichern
bundle-saved = Gespeichert

## Shortcuts

shortcuts-title = Tastenkürzel
shortcut-search = Nachrichten finden
shortcut-group-before = Gruppe darüber
shortcut-group-after = Gruppe darunter
shortcut-group-add = Gruppe hinzufügen
shortcut-members = Mitglieder der Gruppe
shortcut-relay = Relay
shortcut-issues = Zustellprobleme
shortcut-phones = Handys
shortcut-settings = Einstellungen
shortcut-lock = Sperren
shortcut-sheet = Dieses Blatt
shortcut-send = Nachricht senden
shortcut-break = Neue Zeile in der Nachricht
shortcut-close = Schließen, was vorn offen ist
shortcut-next = Zum nächsten Bedienelement

## About

about-title = Über Sealpost
about-what = Sealpost bringt Nachrichten zwischen deinen eigenen Geräten und kleinen Gruppen.
travel-label = Der Weg einer Nachricht
travel-seal = Versiegelt, wo sie geschrieben wird
    .about = Nur die Geräte ihrer Gruppe können sie öffnen.
travel-wait = Aufbewahrt vom Relay
    .about = Es sieht weder Text noch Namen und wartet auf Geräte, die aus sind.
travel-open = Geöffnet, wo sie ankommt
    .about = Jedes Gerät der Gruppe holt sie sich selbst.
about-states = Von einer Nachricht sagt es nur, was es weiß: wartet, wird übergeben, auf dem Relay, oder gescheitert und warum.
about-licence = Freie Software unter der MIT- oder der Apache-2.0-Lizenz.
version-app = Sealpost
version-transport = Transport
version-end-to-end = End-to-End

## Tray

tray-show = Sealpost zeigen
tray-relay = Relay auf diesem Computer
tray-pair = Gerät koppeln…
tray-issues =
    { $count ->
        [0] Zustellprobleme
       *[other] Zustellprobleme ({ $count })
    }
tray-mute = Benachrichtigungen stumm
tray-ended = Sealpost ist beendet
    .about = Diese Arbeitsfläche zeigt keine Symbole im Infobereich; deshalb beendet das Schließen des Fensters Sealpost. Nachrichten warten auf dem Relay, bis es wieder gestartet wird.
already-running = Sealpost läuft schon, antwortet aber nicht
    .about = Das zuvor gestartete Sealpost hängt. Beende es, etwa durch Abmelden, und starte es neu.
page-lost = Das Fenster lässt sich nicht anzeigen
    .about = Was es zeichnet, ist mehrmals abgebrochen. Nachrichten kommen weiter an. Beende Sealpost über den Infobereich und starte es neu; hilft das nicht, starte den Computer neu.
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
error-removed-before = Dieses Gerät wurde früher aus der Gruppe entfernt
    .why = Die Schlüssel eines entfernten Geräts nimmt die Gruppe nie wieder auf.
    .action = Brich den Beitritt auf jenem Gerät ab und frage mit einem neuen Code noch einmal: Dann hat es neue Schlüssel.
error-keys-mismatch = Dieses Gerät kann mit diesen Schlüsseln nicht aufgenommen werden
    .why = Einer davon gehört einem Mitglied der Gruppe.
    .action = Brich den Beitritt auf jenem Gerät ab und frage mit einem neuen Code noch einmal: Dann hat es neue Schlüssel.
error-not-listed = Die Gruppe führt dieses Gerät im Moment nicht
    .why = Geräte haben gleichzeitig etwas geändert, und die Änderungen sind noch nicht zusammengekommen.
    .action = Warte, bis die anderen Geräte online waren, und versuche es noch einmal.
error-manifest-awaited = Hier fehlt noch eine Nachricht über die Gruppe
    .why = Die Änderung eines anderen Geräts, auf der diese aufbaut, ist noch unterwegs.
    .action = Warte kurz und versuche es noch einmal. Wolltest du gehen, macht Sealpost das von selbst.
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
error-backup-too-many-groups = Es gibt mehr Gruppen, als eine Sicherung fasst
    .why = Sie fasst bis zu { $max } Gruppen.
    .action = Lösche wiederhergestellte Gruppen, die du nicht brauchst. Es wurde nichts geschrieben.
error-backup-would-replace = Eine Datei dieses Namens gibt es schon
    .why = Manche Gruppen lassen sich nicht öffnen und würden in dieser Sicherung fehlen, darum ersetzt sie nichts.
    .action = Wähle einen anderen Namen. Es wurde nichts geschrieben.
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
error-phone-port-in-use = Ein anderes Programm benutzt Port { NUMBER($port, useGrouping: 0) }
    .why = Unter diesem Port kennen deine Handys diesen Computer.
    .action = Beende das andere Programm und versuche es noch einmal. Mit einem anderen Port muss jedes Handy neu gekoppelt werden.
error-phone-pairing-over = Diese Kopplung ist vorbei
    .why = Ihr Code war verbraucht, ihre Zeit war um, oder sie wurde auf dem Handy beendet.
    .action = Kopple das Handy noch einmal.
error-phone-unknown = Dieses Handy ist nicht mehr gekoppelt
    .why = Es wurde hier oder auf dem Handy getrennt.
    .action = Kopple es neu, wenn du es wieder willst.
error-phones-need-network = Ein Handy kann diesen Computer nicht erreichen
    .why = Dieser Computer ist in keinem Netz, in dem er seine Adresse kennt.
    .action = Verbinde ihn mit dem Netz des Handys und versuche es noch einmal.
error-phones-need-relay = Das Relay auf diesem Computer ist aus
    .why = Handys kommen darüber herein.
    .action = Schalte es ein und kopple dann das Handy.
error-phones-too-many = Es gibt schon { $max } Handys
    .why = Für mehr bewahrt das Relay auf diesem Computer keine Fächer auf.
    .action = Trenne eines, das du nicht mehr benutzt.
error-phones-unusable = Was dieser Computer von seinen Handys weiß, ist nicht zu gebrauchen
    .why = Seine Datei lässt sich nicht lesen oder schreiben.
    .action = Schaff Platz auf der Platte oder sorge dafür, dass die Datei lesbar ist, und versuche es noch einmal.
error-phones-unusable-key-missing = Was dieser Computer von seinen Handys weiß, ist nicht zu gebrauchen
    .why = Der Schlüssel seiner Datei ist nicht mehr im Schlüsselbund.
    .action = Hol den Eintrag im Schlüsselbund zurück, wenn du kannst. Ohne ihn ist kein gekoppeltes Handy mehr zu erreichen.
error-phones-unusable-too-new = Was dieser Computer von seinen Handys weiß, ist neuer als diese App
    .why = Eine neuere Version von Sealpost hat es geschrieben.
    .action = Aktualisiere Sealpost.
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
    .action = Schließ das andere Programm. Sealpost versucht es alle paar Sekunden wieder.
error-store-too-new = Diese Daten sind von einem neueren Sealpost
    .why = Ihr Format ist neuer, als diese Version kennt; sie würde sie beschädigen.
    .action = Aktualisiere Sealpost. Geändert wurde nichts.
error-store-too-new-named = Diese Daten sind von einem neueren Sealpost
    .why = Ihr Format ist { $found }, und diese Version kennt { $known }.
    .action = Aktualisiere Sealpost. Geändert wurde nichts.
error-profile-damaged = Die Einstellungen dieses Profils sind beschädigt
    .why = Die Datei des Profils selbst ist nicht zu verstehen.
    .action = Hole die Datei aus einer Kopie zurück, oder starte mit einem anderen Profil und spiele dort eine Sicherung ein. Gelöscht wurde nichts.
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
    .why = Eine neuere Version hat sie gespeichert, und diese kann sie nicht lesen.
    .action = Aktualisiere Sealpost. Geändert wurde nichts.
error-key-file-unusable = Die Datei mit den Schlüsseln ist nicht zu benutzen
    .why = Sie ist nicht zu lesen oder zu schreiben oder ist beschädigt.
    .action = Prüfe die Platte und die Rechte am Datenverzeichnis, und starte Sealpost dann neu.
error-key-file-unusable-exposed = Andere an diesem Computer können die Datei mit den Schlüsseln lesen
    .why = Nur ihre Rechte schützen sie, und die lassen andere hinein.
    .action = Erlaube das Lesen nur ihrem Besitzer (Modus 600), und starte Sealpost dann neu.
error-profile-not-writable-permission-denied = Das Datenverzeichnis darfst du nicht beschreiben
    .why = Es gehört jemand anderem, oder seine Rechte verbieten es.
    .action = Ändere die Rechte, oder nenne mit --data-dir ein anderes. Geändert wurde nichts.
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

error-backup-damaged = Diese Sicherung ist beschädigt
    .why = Ein Teil davon ist nicht das, was geschrieben wurde.
    .action = Wähle eine andere Kopie davon. Nichts wurde geändert.
error-backup-damaged-truncated = Diese Sicherung ist abgeschnitten
    .why = Die Datei hört vor ihrem Ende auf; vielleicht wurde sie nicht ganz kopiert.
    .action = Kopiere sie noch einmal oder wähle eine andere. Nichts wurde geändert.
error-backup-damaged-reordered = Diese Sicherung wurde verändert
    .why = Ihre Teile stehen in anderer Reihenfolge, als sie geschrieben wurden.
    .action = Wähle eine andere Kopie davon. Nichts wurde geändert.
error-backup-damaged-appended = Diese Sicherung wurde verändert
    .why = Hinter ihrem Ende steht noch etwas.
    .action = Wähle eine andere Kopie davon. Nichts wurde geändert.
error-backup-foreign = Diese Datei ist keine Sicherung
    .why = Sie stammt von etwas anderem.
    .action = Wähle eine andere Datei. Nichts wurde geändert.
error-backup-no-room = Die Platte ist voll
    .why = Für alles zusammen fehlt der Platz.
    .action = Schaffe Platz oder wähle einen anderen Ort. Nichts wurde geändert, und eine frühere Sicherung ist noch da.
error-backup-not-synced = Die Sicherung ist geschrieben, aber vielleicht nicht dauerhaft
    .why = Ihr Ordner ließ sich nicht sichern: Fällt jetzt der Strom aus, fehlt die Datei vielleicht.
    .action = Die Datei ist vollständig. Sieh nach dem nächsten Start nach, ob sie da ist, oder lege eine weitere auf einem anderen Datenträger an.
error-backup-occupied = Eine Datei dieses Namens gibt es schon
    .why = Sie ist keine Sicherung, und nur eine Sicherung wird durch eine neue ersetzt.
    .action = Wähle einen anderen Namen. Es wurde nichts geschrieben.
error-backup-passphrase-wrong = Diese Passphrase öffnet die Sicherung nicht
    .why = Sie ist nicht die, mit der die Sicherung angelegt wurde.
    .action = Achte auf Großbuchstaben und die Sprache der Tastatur und versuche es noch einmal.
error-backup-too-new = Diese Sicherung stammt von einem neueren Sealpost
    .why = Ihr Format ist { $found }, und diese Version kennt { $known }.
    .action = Aktualisiere Sealpost. Nichts wurde geändert.
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
error-no-memory = Im Moment ist zu wenig Speicher frei
    .why = Ein Schlüssel aus einer Passphrase braucht eine Sekunde lang 64 MiB.
    .action = Schließe andere Programme und versuche es noch einmal. Es wurde nichts geändert.
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
    .why = Der Absender gehört nicht oder nicht mehr zur Gruppe, oder er wollte mit einem Code beitreten, der geschlossen ist.
    .action = Nichts zu tun. Wartet ein Gerät auf den Beitritt, zeig ihm einen neuen Code. Fehlt eines in der Liste der Mitglieder, kopple es neu.
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
issue-store-reset = Dieses Gerät hat neu angefangen und ist nicht mehr in der Gruppe
    .why = Die Daten dieser Gruppe stammten aus einer Version, die Sealpost nicht mehr lesen kann. Die Nachrichten auf diesem Gerät sind weg.
    .action = Kopple dieses Gerät neu, und entferne seinen alten Eintrag auf einem anderen Gerät.
issue-away-too-long = Dieses Gerät war so lange weg, dass Nachrichten fehlen können
    .why = Ein Relay bewahrt 30 Tage lang auf, was auf ein Gerät wartet. Was davor geschrieben wurde, während dieses Gerät kein Relay hatte, kommt vielleicht nie an. Manche Relays bewahren kürzer auf; dann endet der Zeitraum später.
    .action = Bitte die anderen, Wichtiges noch einmal zu senden.
issues-missing = Vom { $from } bis zum { $until }
issues-unknown = Es geschah etwas, wofür diese Version keine Worte hat
    .why = Eine neuere Version von Sealpost hat es vermerkt.
    .action = Aktualisiere Sealpost, um zu lesen, was es war.

## Die Seite für Telefone

page-opening = Wird geöffnet…
page-reload = Die Seite neu laden
page-start-title = Koppel zuerst dieses Telefon
    .about = Öffne am Computer in Sealpost „Telefone“ und wähle, ein Telefon zu koppeln. Richte dann die Kamera dieses Telefons auf den Code: Er öffnet diese Seite von selbst.
    .lost = War dieses Telefon schon gekoppelt, dann hat sein Browser gelöscht, was die Seite aufbewahrte, oder das Relay hat jetzt eine andere Adresse. Koppel es neu und entferne am Computer den alten Eintrag.
page-code-version = Der Code braucht eine andere Version
    .about = Er stammt von einer anderen Version von Sealpost als diese Seite. Aktualisiere Sealpost am Computer und zeige einen neuen Code.
page-code-damaged = Der Code ist unvollständig
    .about = Ein Teil ging auf dem Weg hierher verloren oder wurde verändert. Scanne den Code direkt vom Bildschirm, mit der Kamera des Telefons.
page-storage-none = Dieser Browser bewahrt hier nichts auf
    .about = In einem privaten Fenster oder bei abgeschaltetem Speicher ginge verloren, was ankommt. Öffne die Seite in einem normalen Fenster: Zeige einen neuen Code und scanne ihn dort.
page-storage-broken = Etwas konnte nicht gespeichert werden
    .about = Das Telefon ist voll, oder der Browser hat den Speicher entzogen. Was nicht gespeichert wurde, wird noch einmal geholt; es geht also nichts verloren. Schaff Platz und lade die Seite neu.
page-scan-again = Zeige am Computer einen neuen Code und scanne ihn mit der Kamera dieses Telefons.
page-trust = Koppel nur in einem Netz, dem du vertraust.

page-pairing-title = Kopplung mit { $desktop }
page-pairing-computer = dem Computer
page-step-relay = Das Relay erreichen
page-step-answer = Antwort von { $desktop }
page-step-compare = Die Ziffern vergleichen
page-step-confirm = Bei { $desktop } bestätigen
page-pairing-connecting = Das Relay wird gesucht…
page-pairing-waiting = Es fehlt die Antwort von { $desktop }. Lass den Code dort offen.
page-digits-title = Stehen diese Ziffern auch bei { $desktop }?
page-digits-label = Sechs Ziffern: { $digits }
page-digits-same = Die Codes stimmen überein
page-digits-different = Sie sind verschieden
page-digits-about = Sind sie verschieden, steht vielleicht jemand dazwischen. „Sie sind verschieden“ hört hier auf; nichts wird gekoppelt.
page-confirm-title = Jetzt bei { $desktop } bestätigen
    .about = Du hast gesagt, dass diese Ziffern übereinstimmen. Sobald das auch am Computer bestätigt ist, ist dieses Telefon gekoppelt.
page-paired = Gekoppelt mit { $desktop }.

page-failed-expired = Dieser Code gilt nicht mehr
    .about = Ein Code gilt fünf Minuten und für ein Telefon.
page-failed-ended = Die Kopplung wurde am Computer beendet
    .about = Sie wurde dort abgebrochen, hat zu lange gedauert, oder ein anderes Gerät hat denselben Code benutzt. Nichts wurde gekoppelt.
page-failed-different = Nichts wurde gekoppelt
    .about = Du hast gesagt, dass die Ziffern verschieden sind. Wenn nicht zwei Codes verwechselt wurden, hat vielleicht jemand in diesem Netz versucht, sich dazwischenzustellen.
page-failed-other = Ein anderes Gerät hat diesen Code benutzt
    .about = Der Computer hat einem Gerät geantwortet, das nicht dieses Telefon ist. Nichts wurde gekoppelt.
page-failed-forged = Eine Antwort war nicht echt
    .about = Es ließ sich nicht nachweisen, dass sie von dem Computer kam, der den Code gezeigt hat. Nichts wurde gekoppelt. Versuche es in einem Netz, dem du vertraust.
page-failed-token = Das Relay kennt diesen Code anders
    .about = Etwas anderes hat auf dem Relay seinen Platz eingenommen. Nichts wurde gekoppelt.
page-failed-refused = Das Relay hat diese Seite nicht verstanden
    .about = Beide haben verschiedene Versionen. Lade die Seite neu; wenn das nicht hilft, aktualisiere Sealpost am Computer.
page-replace-title = Dieses Telefon ist schon mit { $desktop } gekoppelt
    .about = Eine Seite ist mit einem Computer gekoppelt. Wenn du fortfährst, werden die Nachrichten hier nach der neuen Kopplung vom Telefon entfernt; was hier noch wartet, wird aufgegeben.
page-replace-go = Neu koppeln
page-replace-keep = So lassen

page-farewell-here = Dieses Telefon ist entkoppelt
    .about = Sein Schlüssel und seine Nachrichten sind hier gelöscht. Der Computer erfährt es, sobald das Relay erreicht ist; lass diese Seite bis dahin möglichst offen.
page-farewell-there = Dieses Telefon wurde am Computer entkoppelt
    .about = Sein Schlüssel und seine Nachrichten sind hier gelöscht. Am Computer sind sie alle noch da.
page-farewell-texts = Diese Texte hatten den Computer noch nicht erreicht. Kopiere, was du brauchst:
page-understood = Verstanden

page-groups-waiting = Es fehlt noch die Antwort von { $desktop }
    .about = Die Gruppen erscheinen hier, sobald der Computer sie schickt. Er muss eingeschaltet sein, und Sealpost muss laufen.
page-groups-none = Noch keine Gruppe zu sehen
    .about = Eine Gruppe erscheint hier, wenn sie mit diesem Telefon geteilt ist und ein zweites Gerät hat. Welche geteilt sind, wählst du bei { $desktop } unter „Telefone“.
page-group-not-connected = { $desktop } erreicht das Relay dieser Gruppe nicht
page-group-needs-you = Bei { $desktop } wirst du gebraucht
page-group-ended = In dieser Gruppe kann nichts mehr geschrieben werden
page-group-gone = Diese Gruppe ist nicht mehr mit diesem Telefon geteilt.
page-group-waiting = { $count ->
    [one] ein Text wartet hier
   *[other] { $count } Texte warten hier
}

page-connecting = Verbindung wird aufgebaut…
page-offline = Dieses Telefon hat kein Netz. Was du schreibst, wartet hier und geht von selbst hinaus.
page-unreachable = Keine Verbindung zu { $relay }. Was du schreibst, wartet hier und geht von selbst hinaus.
page-busy = Das Relay ist ausgelastet. Was du schreibst, wartet hier und geht von selbst hinaus.
page-misbehaves = Was unter { $relay } antwortet, ergibt keinen Sinn. Was du schreibst, wartet hier; hält es an, sieh am Computer nach dem Relay.
page-refused-address = Das Relay antwortet unter dieser Adresse nicht mehr. Was du schreibst, wartet hier. Bleibt es so, scanne einen neuen Code.
page-not-understood = Das Relay und diese Seite haben verschiedene Versionen. Was du schreibst, wartet hier.
page-wrong-token = Etwas anderes hat auf dem Relay den Platz dieses Telefons eingenommen. Koppel es neu.
page-blocked = { $desktop } hat eine Weile nichts abgeholt, und das Relay nimmt nichts mehr dafür an. Der Rest wartet hier.
page-unconfirmed = Das Relay hatte verloren, was es für dieses Telefon aufbewahrte. Noch fehlt ein Zeichen von { $desktop }.
page-unconfirmed-long = Seit einer Woche gibt es kein Zeichen von { $desktop }. Kennt es dieses Telefon nicht mehr, entkoppel hier und koppel neu.
page-link-lost = Das Relay kennt dieses Telefon nicht mehr. Es wurde bei { $desktop } entfernt, oder beide wurden 30 Tage nicht benutzt. Bleibt es so, entkoppel hier und koppel neu.
page-newer = { $desktop } hat eine neuere Version als diese Seite. Lade sie neu.
page-clock-ahead = Die Uhr dieses Telefons geht um { $span } vor. Stell sie richtig, sonst verfällt zu früh, was wartet.
page-clock-behind = Die Uhr dieses Telefons geht um { $span } nach. Stell sie richtig, solange diese Seite offen ist, sonst verfällt zu früh, was wartet.

page-text-waiting = Wartet auf diesem Telefon
page-text-stored = Auf dem Relay, wartet auf { $desktop }
page-text-received = Bei { $desktop } angekommen
page-text-failed = Nicht zugestellt: { $reason }
page-text-retry = Noch einmal schreiben
page-refused-not-member = { $desktop } ist nicht mehr in dieser Gruppe
page-refused-gone = die Gruppe ist beendet
page-refused-not-shared = die Gruppe ist nicht mit diesem Telefon geteilt
page-refused-other = { $desktop } konnte ihn nicht annehmen
page-older-asked = Ältere Nachrichten werden von { $desktop } geholt…
page-older-waiting = Ältere Nachrichten liegen bei { $desktop }. Sie kommen mit der nächsten Antwort.
page-empty = Was du schreibst, geht zu { $desktop } und von dort in die Gruppe.
page-cut = Das ist nur der Anfang. Der ganze Text liegt bei { $desktop }.
page-by-this-phone = Von diesem Telefon

page-phone-title = Dieses Telefon
page-phone-with = Gekoppelt mit
page-phone-name = Heißt dort
page-phone-contact = Zuletzt gehört
page-phone-no-contact = Noch nie
page-phone-waiting = Wartet hier
page-phone-waiting-none = Nichts
page-phone-relay = Über
page-language = Sprache
page-language-phone = Wie das Telefon
page-home-title = Nur ein Tippen entfernt
    .about = Leg diese Seite über das Menü des Browsers auf den Startbildschirm. Auf einem iPhone oder iPad hat die Kopie dort eigene Daten: Öffne sie und scanne den Code von dort aus.
page-network-title = In diesem Netz
    .about = Nachrichten sind zwischen diesem Telefon und dem Computer versiegelt. Über http könnte aber jemand, der dieses Netz beherrscht, die Seite selbst beim Laden verändern. Benutze sie in Netzen, denen du vertraust.
page-unpair = Dieses Telefon entkoppeln
page-unpair-title = Dieses Telefon von { $desktop } entkoppeln?
page-unpair-does = Der Schlüssel, die Nachrichten und was hier noch wartet werden von diesem Telefon gelöscht, und der Computer erfährt es.
page-unpair-not = Am Computer wird nichts gelöscht, und was geschrieben wurde, bleibt in den Gruppen.
