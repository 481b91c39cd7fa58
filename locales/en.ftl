# The words of Sealpost, for the window, the tray and the notifications.
#
# Words for people: device, group, relay, pairing code, "on relay", waiting, removed,
# delivery issue, "this computer". An error has three parts: what happened (the value),
# .why and .action. Keys are shared by all languages; a test compares them.

## Files

file-code = sealpost-code.png
file-backup = Sealpost backup
file-picture = Picture
file-text = Text

## Notifications

notification-something = There is something new
notification-attention = Something needs you
notification-who =
    { $count ->
        [one] A message from { $author }
       *[other] { $others ->
            [0] { $count } messages from { $author }
            [one] { $count } messages, the last one from { $author }
           *[other] { $count } messages, the last one from { $author }
        }
    }
notification-text =
    { $more ->
        [0] { $author }: { $text }
        [one] { $author }: { $text } (and { $more } earlier)
       *[other] { $author }: { $text } (and { $more } earlier)
    }
notification-unknown = { $author } wrote something that this version can’t show
notification-issues =
    { $count ->
        [one] A message was not delivered as it should be
       *[other] { $count } delivery issues
    }
    .about = Open the list to see what happened and what to do.

## Words used everywhere

back = Back
close = Close
copied = Copied
copy = Copy
quit = Quit
try-again = Try again
error-code = Code: { $code }
this-device = This device
cancel = Cancel
save = Save
show-more = Show more
as-system = As the system
confirm-does = What this does
confirm-does-not = What it doesn’t do

## Starting, and when nothing can be opened

starting = Opening your groups…
failed-title = Sealpost can’t open your groups
failed-ways = You can restore a backup beside it, and export what can still be read.
failed-untouched = Nothing was changed or deleted. Your data is as it was.

## First start, and adding a group

first-title = Private messages, by your own post
first-lead = Between your devices and small groups, through a relay that you can run yourself.
name-label = This device’s name
name-hint = The other devices of a group see this name.
name-empty = Give this device a name.
name-too-long = This name is too long: { $bytes } bytes of at most { $max }.
start-title = Add a group
way-start = Start a group
way-start-about = You get a pairing code that brings other devices in.
way-join = Join a group
way-join-about = With a code that another device shows you. No camera is needed.
way-join-link = Paste it as a link
way-join-picture = Open it as a picture
start-group = Start a group
start-group-busy = Starting the group…
join-with-code = Join with a code
relay-choice = Relay
relay-choice-here = Run one on this computer
relay-choice-address = I have a relay address
relay-address-label = Relay address
relay-address-hint = It begins with trueseal:// and comes from whoever runs the relay.

## Pairing: show a code

pair-title = Pair a device
pair-title-group = Pair a device with { $group }
pair-device = Pair a device
pair-show = Show my code
pair-enter = Enter a code
pair-show-needs-group = Which group is it for?
    .about = A code brings a device into a group. Choose the group, or start one.
pair-show-no-group = There is no group yet
    .about = A code brings a device into a group: start one first.
qr-label = Pairing code as a picture
pair-how = How pairing goes
pair-how-open = On the other device, choose “Join with a code”.
pair-how-give = Show it this picture, or send it this link.
pair-how-compare = Compare four words on both screens, and accept.
enter-how-ask = On a device of the group, choose “Pair a device”.
enter-how-give = Bring its link or its picture here.
enter-how-compare = Compare four words on both screens.
code-valid-until = Valid until { $time }
code-minutes-left = { $minutes ->
    [one] one minute left
   *[other] { $minutes } minutes left
}
code-seconds-left = { $seconds ->
    [one] one second left
   *[other] { $seconds } seconds left
}
code-link = The same as a link
code-copy = Copy the link
code-close = Close the code
code-anyone = Anyone who sees this can ask to join; you will confirm. The code closes when you leave this page.
code-preparing = Making a code…
code-new = Get a new code
code-closed-accepted = The device is in. This code is closed.
code-closed-cancelled = You closed this code.
code-closed-expired = The ten minutes of this code are over.
code-closed-why = A closed code lets nobody in. For another device, get a new one.
code-closed-left = The pairing code was closed because you left its page.
requests-title = Devices that ask to join
requests-none = None yet. A device that uses your code appears here.
request-compare = asks to join. Accept only if its screen shows these four words:
request-accept = Accept
request-dismiss = Dismiss
request-looks-like = Careful: this name looks like that of { $member }, which is in the group already. Only the four words tell which device this is.
request-stale-accepted = { $name } asked with a code that has let another device in. It waits in vain: show it a new code.
request-stale-closed = { $name } asked with a code that is closed. It waits in vain: show it a new code.
admission-dropped-full = { $name } is not in the group after all: others were let in at the same time, and the group is full.
admission-dropped-removed = { $name } is not in the group after all: it was removed meanwhile.
cohesion-unlisted = The others don’t list this device at the moment. What it sends waits until they do.
cohesion-admission-void = The device that let this one in was removed at the same time, so the others don’t count this one in. Leave the group and join again, with a code of a device that is in it.
cohesion-cut-off = The device that let this one in is gone, and nothing has been heard of those that are left. They may be offline. If it stays so, the group has come apart: leave it and join again, with a code of one of them.
request-spoken = { $name } asks to join. Its words: { $words }
words-label = Four words
code-save = Save the picture
code-saved = The picture was saved.

## Pairing: enter a code

enter-label = Pairing code or link
enter-hint = Paste it as it is. Line breaks and quotation marks around it don’t matter.
enter-open-image = Open a picture of the code
enter-drop = or paste or drop one here
enter-connect = Connect
enter-connecting = Connecting…
preview-relay = This code leads to the relay
preview-relay-key = Its key:
preview-token = This code names no relay
preview-nothing-yet = Nothing was contacted yet. If you connect, this device asks to join as { $name }.

## Pairing: the joining side

join-title = Are these the words on the other device?
join-about = The other device shows four words beside this device’s name. Compare all four, in order.
join-preparing = Working out the four words…
words-same = Same
words-different = Different
words-different-about = If they differ, somebody may be in between. “Different” stops here, and this device joins nothing.
join-wait-title = Almost there
join-refused-title = This request was refused
join-wait-about = You said that these words are the same:
join-wait-accept = Waiting for somebody to press “Accept” on the other device. Nobody is asked any more once the code is closed: then ask for a new one.
join-wait-finish = The group is being set up on this device.
join-wait-sending = Your request is on its way to the relay.
join-wait-refused = The relay refused the request for good. Cancel joining and try again with a new code. If that doesn’t help, ask whoever runs the relay.
join-wait-relay = Waiting for the relay. The request goes out by itself as soon as the relay answers.
join-cancel = Cancel joining
join-cancel-about = You can leave this page; the request stays until you cancel it.
paired = Paired. Say hello!

## Groups and their connection

groups-label = Groups
groups-show = Show the groups
group-add = Add a group
group-unnamed = New group
group-default-name = My devices
unread = { $count ->
    [one] one unread message
   *[other] { $count } unread messages
}
group-devices = { $count ->
    [one] only this device
   *[other] { $count } devices
}
connection-short-connecting = Connecting…
connection-short-none = No connection
connection-short-unsupported = Wrong version
status-short-not-joined = Not in it any more
status-short-restored = From a backup
status-short-left = Left the group
status-short-removed = Was removed
status-short-admission-void = Was not let in
status-short-destroyed = Was destroyed
status-short-group-full = Was full
status-short-store-reset = Started over
status-short-leaving = Leaving…
status-short-destroying = Being destroyed…
relay-here = this computer
status-joining = Joining…
status-not-joined = This device is not in the group any more
status-restored = This group came out of a backup
status-left = This device has left the group
status-removed = This device was removed from the group
status-admission-void = This device was not let in after all
status-destroyed = The group was destroyed
status-group-full = The group was full
status-store-reset = This device started over and is not in the group any more
status-leaving = Leaving the group…
status-destroying = Destroying the group…
connection-connected = Connected through { $relay }
connection-connecting = Connecting to { $relay }…
connection-disconnected = No connection to { $relay }; trying again
    .action = Check that the relay runs. What you write waits here and goes out by itself.
connection-name-not-found = The name { $relay } is not known to this network
    .action = Check the name in the relay’s address, and this computer’s connection.
connection-refused = No relay is running at { $relay }
    .action = Start the relay, or check the port in its address. What you write waits here.
connection-refused-here = The relay on this computer isn’t running
    .action = Below, switch it on, or read why it doesn’t run. What you write waits here and goes out by itself.
connection-no-answer = { $relay } doesn’t answer
    .action = It is off, in another network, or a firewall is in between. What you write waits here and goes out by itself.
connection-something-else = What answers at { $relay } is not a relay
    .action = Check the port in the relay’s address; another program listens there.
connection-wrong-key = Another relay answers at { $relay }; nothing was given to it
    .action = Ask whoever runs the relay for its address of today.
connection-no-relay = This group has no relay yet
    .action = Start a relay on this computer, or ask for the address of one.
connection-lost = The connection to { $relay } broke off; trying again
    .action = Nothing has to be done. What you write waits here and goes out by itself.
connection-unavailable = { $relay } can’t serve anybody right now; trying again
    .action = Whoever runs the relay can see why, often a full disk. What you write waits here.
connection-unsupported = The relay at { $relay } needs another version of Sealpost
    .action = Update whichever is older: Sealpost here, or the relay.
group-name = Name of the group
group-name-hint = Everybody in the group sees it, and so does every device that joins later.
group-rename = Rename the group
group-renamed = The group is now called { $group }.
members-full = The group is full: it holds at most { $max } devices. Remove one that is no longer used.
clock-ahead = This computer’s clock is fast by { $span }. Set it right: a wrong clock makes messages expire too soon or be refused.
clock-behind = This computer’s clock is slow by { $span }. Set it right: a wrong clock makes messages expire too soon or be refused.
ended-about = Nothing more can be written here; the messages that this device has, it keeps.
ended-about-restored = Its messages are kept here to be read. Nothing arrives here and nothing can be written: a restored device has new keys, so that it can’t be a second copy of the old one. To come back, ask for a pairing code; that makes a group beside this one.
ended-about-left = What arrived before is kept here to be read. To come back, ask for a pairing code.
ended-about-leaving = The others are told as soon as the relay answers. Nothing more can be written here; the messages that this device has, it keeps.
ended-about-destroying = The others are told as soon as the relay answers. Nothing more can be written here; the messages that a device has, it keeps.
ended-about-store-reset = To come back, ask for a pairing code, and remove this device’s old entry on another device.
ended-about-removed = Another device has removed this one. What arrived before is kept here to be read; what still waited to go out was given up. To come back, ask for a pairing code.
ended-about-admission-void = The device that let this one in was itself removed at the same time, so the others never counted this one in. To get in, ask a device that is in the group for a new pairing code.
ended-about-group-full = The group was full: others were let in at the same time. Let somebody make room first, then ask for a new code.
ended-about-destroyed = A device of the group has ended it for everybody. What arrived before is kept here to be read.

## Messages

messages-label = Messages
messages-loading = Opening the messages…
messages-spoken = { $count } new messages
message-spoken = { $name }: { $text }
message-mine = From this device
# Behind an author's name: the phone that the message was written on.
message-via = from { $phone }
message-unknown = A message that this version can’t show
message-show-all = Show all of it
message-written = written { $moment }
new-messages = New messages
jump-end = To the newest
jump-new = { $count ->
    [one] One new message
   *[other] { $count } new messages
}
day-today = Today
day-yesterday = Yesterday
empty-alone = It’s just this device so far
empty-alone-about = Pair a second device, and what you write here arrives there.
empty-group = No messages yet
empty-group-about = What you write goes to every device of this group, and nobody else can read it. A device that joins later doesn’t get what was written before.
empty-ended = No messages
empty-ended-about = None of this group’s messages are on this device.
composer-label = Write a message
composer-left = { $left ->
    [one] one byte left
   *[other] { $left } bytes left
}
composer-too-long = { $over ->
    [one] One byte too long (at most { $max }).
   *[other] { $over } bytes too long (at most { $max }).
} Shorten it or make two messages of it; nothing is cut off.
send = Send
composer-draft-too-long = So long a draft is kept only while this window is open (more than { $max } bytes).
message-failed-spoken = Not delivered: { $text }
message-retry = Retry
message-retry-of = Retry: { $text }
message-retried = On its way again.
message-copy = Copy the text
message-copy-of = Copy the text: { $text }
message-delete = Delete
message-delete-of = Delete: { $text }
message-delete-title = Delete this message here?
message-delete-does = The message goes off this device, and so does its entry among the delivery issues.
message-delete-not = Devices for which it is on the relay still get it.
message-deleted = Deleted on this device.

## How far an own message has come

delivery-open = Show it for each device
delivery-nobody = Only on this device
delivery-waiting = Waiting
    .count = { $count } waiting
delivery-sending = Sending
    .count = { $count } sending
delivery-on-relay = On relay for { $count } of { $total }
delivery-on-relay-one = On relay
delivery-failed = Failed
    .count = { $count } failed
delivery-too-large = too large for the relay
    .action = The relay allows only smaller ones. Send it in parts.
delivery-malformed = the relay could not read it
    .action = Update Sealpost on this device, then write it again.
delivery-expired = not taken within 30 days
    .action = The relay was not reached for 30 days. Check it, then write it again.
detail-title = Where this message is
detail-written = Written { $moment }
detail-nobody = Nobody else was in the group when you wrote this, so it was given to nobody.
detail-kept = Devices fetch it when they are online. The relay keeps it until { $date } at most.
detail-no-receipt = “On relay” is all that Sealpost can know. Whether a message was fetched or read, no device tells.

## Members

members-title = { $count ->
    [one] Members: this device only
   *[other] Members ({ $count })
}
members-about = Every device in a group is equal: none of them is the main one.
fingerprint = Fingerprint
member-title = Device
member-since = In the group since
member-added-by = Added by
member-added-by-unknown = Not known to this device
member-last = Last message { $when }
member-last-message = Last message
member-no-message = No message yet
member-no-presence = Whether a device is switched on right now, nobody can see, the relay’s owner aside.
member-remove = Remove from the group
member-removed = { $name } was removed.
compare-title = Compare code
compare-about = A code over the keys of both devices. If { $name } shows the same, nobody is in between.
compare-show = Show the code
compare-how = On { $name }, open the members of this group, choose this device, and compare. Every digit has to be the same; there is no hurry.
history-title = Membership history
history-loading = Reading the history…
history-empty = Nothing has happened yet.
history-about = As this device has learned of it. What happened before it joined, it doesn’t know.
history-added = { $whom ->
    [me] { $actor ->
        [none] This device was added
       *[other] { $by } added this device
    }
   *[other] { $actor ->
        [me] This device added { $who }
        [none] { $who } was added
       *[other] { $by } added { $who }
    }
}
history-removed = { $whom ->
    [me] { $actor ->
        [none] This device was removed
       *[other] { $by } removed this device
    }
   *[other] { $actor ->
        [me] This device removed { $who }
        [none] { $who } was removed
       *[other] { $by } removed { $who }
    }
}
history-left = { $whom ->
    [me] This device left
   *[other] { $who } left
}
history-created = { $actor ->
    [me] This device started the group
    [none] The group was started
   *[other] { $by } started the group
}
history-joined = { $actor ->
    [none] This device joined
   *[other] This device joined; { $by } let it in
}
history-renamed = { $whom ->
    [me] This device has a new name: { $who }
   *[other] A device is now called { $who }
}
history-destroyed = { $actor ->
    [me] This device destroyed the group
    [none] The group was destroyed
   *[other] { $by } destroyed the group
}
remove-title = Remove { $name } from { $group }?
remove-does-shut = { $name } gets nothing more that is written in this group, and nothing that it writes is taken any more.
remove-does-told = It is told that it was removed, and the others are told too.
remove-not-erase = The messages that { $name } has, it keeps. Nothing is deleted there.
remove-not-read = Messages that already wait for it on the relay, it may still fetch.
remove-not-final = { $name } can come back, with a new pairing code.
leave-group = Leave the group
leave-title = Leave { $group }?
leave-recent = { $name } came in only minutes ago. If you leave now and another device is let in elsewhere at the same time, those two may never hear of each other. Better wait until the others have been online.
leave-recent-me = This device came in only minutes ago. If it leaves now and another device is let in elsewhere at the same time, some devices may never hear of each other. Better wait until the others have been online.
leave-recent-anyway = I want to leave now all the same
leave-does-told = The other devices are told and take this one off their lists.
leave-does-quiet = Nothing more arrives here, and nothing can be written.
leave-does-waiting = What still waits to go out is given up.
leave-does-alone = The group ends, as no other device is in it.
leave-not-history = The messages on this device stay, to be read, until you delete them.
leave-not-others = The group goes on without this device, and nothing is deleted elsewhere.
destroy-group = Destroy the group
destroy-title = Destroy { $group } for everybody?
destroy-does-end = { $count ->
    [one] The group ends on the one device in it.
   *[other] The group ends on all { $count } devices, as soon as each has been online.
}
destroy-does-keys = Its keys and its list of members are deleted on each of them.
destroy-does-waiting = What still waits to go out is given up.
destroy-not-history = The messages that a device has, it keeps, to be read.
destroy-not-offline = A device that is never online again doesn’t hear of it.
destroy-not-back = It can’t be taken back: to go on, start a new group and pair the devices again.
destroy-understood = I understand that this ends the group for everybody
forget-group = Forget it on this computer
forget-title = Stop waiting for the relay of { $group }?
forget-does-end = The group ends here at once, without waiting for its relay.
forget-does-unheard = Devices that have not heard of it yet go on listing this one.
forget-does-undestroyed = Devices that have not heard of it yet go on with the group.
erase-group = Delete what is left here
erase-title = Delete { $group } on this device?
erase-does-messages = All its messages on this device are deleted, and they can’t be brought back.
erase-does-list = The group goes off your list.
erase-not-others = Nothing changes on other devices.

## The relay

relay-title = Relay
relay-of-group = Relay of this group
relay-path-others = { $count ->
    [0] nobody else yet
    [one] one other device
   *[other] { $count } other devices
}
relay-address = Address
relay-run = Run a relay on this computer
relay-line-off = Relay here: off
relay-line-starting = Relay here: starting…
relay-line-on = { $count ->
    [0] Relay here: on
   *[other] Relay here: on, { $count } waiting
}
relay-line-failed = Relay here: not running
relay-off-about = A relay keeps messages until the other devices fetch them. It can’t read them. While it is off, groups that use it wait.
relay-on-about = Devices reach it while this computer is on and in the same network. A firewall has to let ports { $receive } and { $push } in.
relay-waiting = Waiting in it
relay-waiting-count = { $count ->
    [0] nothing
    [one] one message
   *[other] { $count } messages
}
relay-bytes = Space used
relay-devices = Devices connected
relay-port-receive = Port for receiving
relay-port-push = Port for sending
relay-addresses = Reached at
relay-no-address = This computer is in no network right now.
relay-first-expiry = First expires
relay-change = Change the relay
relay-change-do = Use this relay
relay-changed = The group uses another relay now.
relay-change-others = The other devices of this group have to change to the same relay themselves: share its address with them. Until they do, nothing passes between you.
relay-change-kept = What waits here goes out through the new relay. What already lies on the old one stays there until it is fetched or its time is over.
relay-share = Share its address
relay-share-title = The relay’s address
relay-share-about = This is only the relay’s address. Whoever has it can use the relay, but can’t join the group or read anything.
relay-copy = Copy the address
relay-ports-edit = Change the ports
relay-ports-about = The relay starts again with the new ports and keeps them. Devices that know the old ones need the new address.
relay-ports-invalid = The two have to be different numbers from 1 to 65535.
firewall-title = If other devices can’t reach it
firewall-about = A firewall has to let in TCP ports { $receive } and { $push } from the local network:
firewall-mac = On a Mac, allow incoming connections for Sealpost in the settings, under Network, Firewall. Also check that the devices are in the same network, that no VPN is in between, and that the Wi-Fi doesn’t keep its devices apart (guest networks often do).
test-relay = Test
test-running-all = Testing…
test-step-look-up = Look up its name
test-step-connect = Connect
test-step-protocol = Speak the same version
test-step-key = Check its key
test-step-push = Hand over a message
test-step-receive = Get it back
test-waiting = not yet
test-running = running…
test-ok = fine
test-failed = failed
test-skipped = not tested
test-took = { $result }, { $ms } ms
test-all-well = All is well with this relay.
test-failed-at = The test stopped at “{ $step }”.
relay-test-failed = This step did not succeed
    .action = Check the address, and try again in a moment.
relay-test-name-not-found = No network knows this name
    .action = Check the name in the address, and this computer’s connection.
relay-test-refused = Nothing listens there
    .action = Start the relay, or check the port in its address.
relay-test-no-answer = There was no answer
    .action = It is off, in another network, or a firewall is in between.
relay-test-something-else = What answers there is not a relay
    .action = Check the port; another program listens there.
relay-test-wrong-key = Another relay answers there; nothing was given to it
    .action = Ask whoever runs the relay for its address of today.
relay-test-unavailable = The relay can’t serve anybody right now
    .action = Whoever runs it can see why, often a full disk.
relay-test-lost = The connection broke off
    .action = Try again; if it stays, something between the two cuts connections.
relay-test-relay-version-unsupported = The relay speaks another version
    .action = Update whichever is older: Sealpost here, or the relay.
relay-test-refused-too-large = The relay takes only smaller messages
    .action = Its owner has set the limit lower than usual; long messages will fail there.
relay-test-refused-malformed = The relay could not read what it was given
    .action = Update Sealpost and the relay.
relay-test-refused-inbox-full = The relay holds as much for this test as it may
    .action = Try again later.
relay-test-refused-rate-limited = The relay asks for a pause
    .action = Try again in a minute.
relay-test-refused-unavailable = The relay can’t take anything right now
    .action = Whoever runs it can see why, often a full disk.
relay-test-refused-internal-error = The relay met a fault of its own
    .action = Whoever runs it can see why in its log.
relay-test-not-delivered = The relay took a message and didn’t hand it out
    .action = Check that both of its ports lead to the same relay.

## Phones

phones-title = Phones
phones-list = The phones that are paired
phones-none = No phone yet
phones-none-about = A phone needs no app: it scans a code with its camera and opens a page that this computer serves. There you read and write in the groups that you choose, while the phone and this computer are in the same network.
phone-pair = Pair a phone
phone-pair-again = Pair it again
phones-relay-off = Phones come in through the relay on this computer, and it is off.
phones-relay-failed = Phones come in through the relay on this computer, and it can’t run.
phones-start-relay = Switch the relay on
phones-no-network = This computer is in no network in which a phone could reach it.
phones-on = Let phones connect
phones-on-about = While the relay runs, phones of this network reach this computer at port { $port }. A firewall has to let it in.
phones-off-about = Off: no phone reaches this computer. What they write waits on them.
phones-new-port = Use another port
phones-new-port-title = Use another port for phones?
phones-new-port-does-move = Phones reach this computer at another port from now on.
phones-new-port-does-pair = Every phone has to be paired again: to its browser another port is another page, with nothing in it.
phones-new-port-not-groups = Your groups and the relay’s own ports stay as they are.

phone-unnamed = A phone
phone-pairing-title = Scan this with the phone’s camera
phone-network = Only pair on a network you trust.
phone-network-about = The phone loads its page unencrypted (http): whoever can change this network’s traffic just then could slip it another page and read along. Whoever only listens reads nothing.
phone-how-network = Bring the phone into the same network as this computer.
phone-how-scan = Point its camera at the code and open the address that it shows.
phone-how-compare = Then compare six digits on both screens.
phone-code-secret = Whoever has this code can ask to be your phone. It is good for one phone and five minutes.
phone-copy = Copy the address
phone-code-used = This code has been used
phone-contacted = A phone has used the code. The digits come in a moment…
phone-compare-title = Are the digits the same?
phone-compare = { $name } has to show the same six digits as this screen.
phone-compare-why = If they differ, or if no phone of yours shows any, somebody else has used the code.
phone-digits-spoken = Compare the digits with those on { $name }: { $digits }
phone-same = They are the same
phone-different = They differ
phone-finishing-title = Pairing { $name }
phone-finishing = Waiting for the phone…
phone-finishing-about = Keep its page open. It may have to be told there, too, that the digits are the same.

phone-closed-paired = The phone is paired
    .about = It sees the groups that you chose.
phone-closed-expired = The code’s five minutes are over
    .about = No phone was paired. Pair again when you have the phone at hand.
phone-closed-cancelled = The code is closed
    .about = No phone was paired with it.
phone-closed-declined = The phone was turned away
    .about = The digits differed, so it wasn’t let in. If it was your phone, pair it again. If the digits differ again, somebody in this network interferes: use another network.
phone-closed-two-devices = Two devices used this code
    .about = Neither was let in. Show the next code to your phone only.
phone-closed-mismatch = What came from the phone doesn’t fit together
    .about = It wasn’t let in. Pair again; if it happens again, somebody in this network may interfere.
phone-closed-failed = The pairing couldn’t be kept
    .about = No phone was paired. Look at the relay on this computer, then pair again.
phone-closed-phone-gave-up = The pairing ended on the phone
    .about = No phone was paired. Pair again when you like.
phone-closed-door-closed = Phones can’t connect any more
    .about = The relay or the phones were switched off meanwhile, so the code leads nowhere.
phone-closed-address-changed = This computer has another address now
    .about = The code named the one before, so it leads nowhere. Pair again for a new one.

phone-contact = last heard of { $ago }
phone-contact-none = not heard of yet
phone-waiting = { $count ->
    [one] 1 thing waits for it
   *[other] { $count } things wait for it
}
phone-unconfirmed = The relay had lost what it kept for this phone, and nothing has come from the phone since { $date }. It may have been unpaired there. Open its page; if it asks to be paired, pair it again.
phone-never-came = The pairing was cut short on this computer, and nothing has come from the phone. If nothing comes in ten minutes, this entry goes by itself. If the phone’s page asks to be paired, pair it again.
phone-lost = The relay keeps nothing for this phone any more. Pair it again, or unpair it.
phone-unpaired-there = It was unpaired on the phone.
phone-broken = The link to this phone has ended, because something didn’t fit together. Pair it again.
phone-address-gone = It was paired at { $address }, and this computer isn’t there any more. To the phone’s browser another address is another page, with nothing in it: pair it again, or give this computer its old address back.
phone-full = It hasn’t fetched anything for long, so what is new waits here. It goes out when the phone’s page is opened.
phone-misbehaves = The relay answers what makes no sense. Switch it off and on again.
phone-newer = The page on the phone is newer than this app. Update Sealpost.
phone-refused = The relay refuses what this app asks for this phone. Switch the relay off and on again; if that doesn’t help, pair the phone again.
phone-storage = This computer can’t write down what goes to this phone. Make room on its disk.
phone-rename = Rename { $name }
phone-name = Name of the phone
phone-name-hint = Everybody in a group reads it beside what you write on this phone.
phone-sees = { $count ->
    [0] It sees no group
    [one] It sees one group
   *[other] It sees { $count } groups
}
phone-sees-title = What { $name } sees
phone-sees-newcomer = What the phone will see
phone-sees-later = Groups that come later, too
phone-sees-about = Of a group that is taken away, the phone forgets what it shows as soon as its page is opened.
phone-sees-before = The phone shows it once a second device is in it.
phone-sees-no-groups = There is no group yet.
phone-unpair = Unpair
phone-dismiss = Take it off the list
phone-unpair-title = Unpair { $name }?
phone-unpair-does-key = Its key on this computer is deleted, and its box on the relay with everything in it.
phone-unpair-does-page = Its page forgets the groups as soon as it is open and reaches this computer.
phone-unpair-does-waiting = What you wrote on it and hasn’t arrived here is lost.
phone-unpair-not-messages = The messages in your groups stay, also those that were written on it.
phone-unpair-not-seen = What was seen on it can’t be taken back. Until its page is open again, it still shows what it had.
phone-unpaired-spoken = { $name } is unpaired

## Keychain and passphrase

locked-title = Sealpost is locked
locked-about = Its groups are closed until it is unlocked. What is meant for this device waits on the relay meanwhile.
locked-unlock = Unlock
keychain-missing = There is no keychain on this computer
    .why = Sealpost keeps its keys in the keychain of the system, and none answers here.
    .action = Start the keychain service (GNOME Keyring or KWallet, for example) and try again.
keychain-locked = The keychain is locked
    .why = Sealpost’s keys are in it, and it didn’t open.
    .action = Unlock it with its password, usually the one you log in with, and try again.
keychain-dismissed = The question for the keychain’s password was closed
    .why = Without the keychain, Sealpost can’t get at its keys.
    .action = Try again, and answer the question this time.
keychain-damaged = The keys of this profile are missing or damaged in the keychain
    .why = The profile is there, but its item in the keychain is gone or can’t be read.
    .action = If the keychain was restored or replaced, bring the old one back and try again. Sealpost doesn’t start over with new keys on its own.
keychain-other-profile = The keys in the keychain belong to another profile
    .why = The data here and the item in the keychain don’t fit together, as after copying a data directory.
    .action = Bring back the data directory or the keychain that belong together, and try again.
keychain-trying = Asking the keychain…
keychain-still = Tried again at { $time }: still the same.
keychain-use-passphrase = Use a passphrase instead
keychain-data-safe = Your groups and messages are untouched, and stay closed until the keys are back.
passphrase-title = Unlock Sealpost
passphrase-about = The keys of this profile are in a file that your passphrase protects.
passphrase-label = Passphrase
passphrase-again = The same passphrase again
passphrase-show = Show what I type
passphrase-differs = The two are not the same yet.
passphrase-strength-short = Too short yet.
passphrase-strength-weak = Easily guessed. Several words that don’t belong together are better.
passphrase-strength-fair = Fair. One more word makes it good.
passphrase-strength-good = Good.
passphrase-unlock = Unlock
passphrase-choose = Use this passphrase
passphrase-choose-title = Keep the keys in a protected file
passphrase-choose-about = You will type this passphrase each time Sealpost starts. Nobody can bring it back for you: if it is forgotten, what is stored here stays closed.
passphrase-busy = One moment…
passphrase-current = The current passphrase
passphrase-new = The new passphrase
passphrase-change = Change the passphrase
passphrase-changed = The keys are under the new passphrase now.
passphrase-remove = Back to the keychain
passphrase-remove-about = The keys move into the keychain of this system, and the file under the passphrase is deleted. The passphrase is no longer asked for.
passphrase-removed = The keys are in the keychain now.

## Search

search-title = Search
search-label = Words, names, parts of words
search-begin = What are you looking for?
search-about = Searches the messages of all groups on this device, and the names of groups. Nothing leaves this computer.
search-busy = Searching…
search-nothing = Nothing found for “{ $text }”
search-nothing-about = Try fewer letters. Messages from before this device joined a group are not here.
search-found = { $count ->
    [one] One message found
   *[other] { $count } messages found
}

## The list of delivery issues

issues-title = Delivery issues
issues-open-count = { $count ->
    [one] Delivery issues: one
   *[other] Delivery issues: { $count }
}
issues-count = { $count ->
    [one] one delivery issue
   *[other] { $count } delivery issues
}
issues-in-group = { $count ->
    [one] There is a delivery issue in this group.
   *[other] There are { $count } delivery issues in this group.
}
issues-look = See them
issues-loading = Reading the list…
issues-none = No delivery issues
issues-none-about = As far as this device knows, nothing went wrong on the way. If something does, it is named here, with the reason.
issues-about = Everything that went wrong on the way, newest first. An entry stays until you dismiss it.
issues-label = { $what }, in { $group }
issues-dismiss = Dismiss
issues-dismissed = Dismissed.
issues-version = Which version is this?
issues-show = Show the message

## Settings

settings-title = Settings
settings-notifications = Notifications
notify-label = When a message arrives, a notification says
notify-nothing = Only that there is something new
    .about = Neither who wrote nor what.
notify-who = Who wrote
    .about = The name and the group, not the text.
notify-text = Who wrote and what
    .about = Whoever sees this screen can read it, and some systems keep it.
mute-hour = Silent for an hour
mute-tomorrow = Silent until tomorrow
muted-until = Silent until { $when }
unmute = End the silence
settings-start = Start
start-at-login = Start when I log in
start-hidden = Start without a window
start-hidden-tray = It then waits in the tray.
start-hidden-no-tray = No tray shows Sealpost’s icon on this desktop, so it starts with its window minimised instead.
start-relay = Start the relay with Sealpost
settings-look = Look and language
theme-label = Colours
theme-light = Light
theme-dark = Dark
language-label = Language
settings-keys = Keys and lock
keys-in-keychain = The keys of this profile are in the keychain of this system.
keys-in-passphrase = The keys of this profile are in a file under your passphrase.
keys-in-file = The keys of this profile are in a file that only your user on this computer can read, without a passphrase.
lock-label = Lock Sealpost
lock-never = Never by itself
lock-with-system = When the screen is locked
lock-after = { $count ->
    [one] After one minute without use
   *[other] After { $count } minutes without use
}
lock-about = A locked Sealpost asks for the passphrase. Messages wait on the relay until then.
lock-about-keychain = The keys are in the keychain, so whoever can open the keychain can unlock Sealpost too. Messages wait on the relay until then.
lock-now = Lock now
settings-data = Data
data-directory = Folder of this profile
data-profile = Name of the profile: { $profile }
backup-about = A backup holds all groups and messages of this profile, sealed under a passphrase of its own.
backup-make = Back up…
backup-title = Make a backup
backup-holds = It holds the groups, their messages and your settings. It holds no keys: nobody can be you with it.
backup-passphrase = Choose a passphrase for this backup. Without it, nobody can open the backup, not you either.
backup-choose-place = Choose where to save it…
backup-working = Writing the backup…
backup-done = The backup is written.
backup-done-where = Written to
backup-groups = { $count ->
    [one] one group
   *[other] { $count } groups
}
backup-messages = { $count ->
    [one] one message
   *[other] { $count } messages
}
backup-counts = { $groups }, { $messages }
backup-left-out = { $count ->
    [one] One group can’t be opened and is not in it.
   *[other] { $count } groups can’t be opened and are not in it.
}
backup-cancelled = No backup was written.
export = Export what is readable…
export-title = Export what is readable
export-does = All messages that can be read are written into one text, also those of groups that can’t be opened any more.
export-clear = The text is not sealed: whoever has the file can read it.
export-working = Writing the messages…
export-done = The messages are written.
export-damaged = { $count ->
    [one] One group is damaged: a part of it, or all, can’t be read any more.
   *[other] { $count } groups are damaged: a part of them, or all, can’t be read any more.
}
export-cancelled = No messages were written.
data-progress = { $done } of { $total } messages
restore = Restore a backup…
restore-title = Restore a backup
restore-first = Do you have a backup?
restore-does = The groups and messages of the backup come back beside what is here. Nothing that is here changes.
restore-keys = A restored device has new keys: its messages are back to be read, and the groups let it in again with a pairing code. Two copies of one device would take each other’s messages away.
restore-choose = Choose the backup…
restore-choose-other = Choose another file…
restore-chosen = The backup
restore-go = Restore
restore-working = Bringing the messages back…
restore-done = Restored: { $groups }, { $messages }.
restore-cancelled = Nothing was restored.
settings-help = Help
bundle-title = Support bundle
bundle-about = This is all that would be saved, for somebody who helps you. It holds no text, no name, no key and no address.
bundle-making = Collecting…
bundle-save = Save it
bundle-saved = Saved

## Shortcuts

shortcuts-title = Keyboard shortcuts
shortcut-search = Find messages
shortcut-group-before = Group above
shortcut-group-after = Group below
shortcut-group-add = Add a group
shortcut-members = Members of the group
shortcut-relay = Relay
shortcut-issues = Delivery issues
shortcut-phones = Phones
shortcut-settings = Settings
shortcut-lock = Lock
shortcut-sheet = This sheet
shortcut-send = Send the message
shortcut-break = New line in the message
shortcut-close = Close what is open in front
shortcut-next = To the next control

## About

about-title = About Sealpost
about-what = Sealpost carries messages between your own devices and small groups.
travel-label = How a message travels
travel-seal = Sealed where it is written
    .about = Only the devices of its group can open it.
travel-wait = Kept by the relay
    .about = It sees neither text nor names, and waits for devices that are off.
travel-open = Opened where it arrives
    .about = Each device of the group fetches it for itself.
about-states = It says of a message only what it knows: waiting, sending, on relay, or failed and why.
about-licence = Free software, under the MIT or the Apache 2.0 licence.
version-app = Sealpost
version-transport = Transport
version-end-to-end = End-to-End

## Tray

tray-show = Show Sealpost
tray-relay = Relay on this computer
tray-pair = Pair a device…
tray-issues =
    { $count ->
        [0] Delivery issues
       *[other] Delivery issues ({ $count })
    }
tray-mute = Mute notifications
tray-ended = Sealpost has ended
    .about = Nothing on this desktop shows tray icons, so closing the window ends Sealpost. Messages wait on the relay until it is started again.
already-running = Sealpost is already running, but does not answer
    .about = The Sealpost that was started before hangs. End it, for example by logging out, and start it again.
page-lost = The window can’t be shown
    .about = What draws it has ended several times. Messages go on arriving. Quit Sealpost from the tray and start it again; restart the computer if this comes back.
tray-quit = Quit
tray-hidden = Sealpost goes on in the tray
    .about = Messages keep arriving. To end it, choose “Quit” there.
tray-status-ready = Connected
tray-status-waiting = No connection; messages wait
tray-status-closed = Not opened yet
tray-status-no-group = No group yet
tray-status-partly = { $connected } of { $groups } groups connected

## Errors: groups and pairing

error-internal = Something went wrong inside Sealpost
    .why = This is a fault of the program, not of yours.
    .action = Try again. If it stays, quit and start Sealpost again.
error-closed = Sealpost is closing
    .why = It is putting everything away and takes on nothing new.
    .action = Start it again.
error-already-in-group = This device is in this group already
    .why = It has joined, or has asked to join.
    .action = Look for the group in your list.
error-group-full = The group is full
    .why = A group holds at most { $max } devices.
    .action = Remove a device that is no longer used, then try again.
error-group-worn-out = The group lets nobody in any more
    .why = It has removed { $max } devices and remembers each of them for good.
    .action = Make a new group and pair the devices there.
error-removed-before = This device was removed from the group before
    .why = The group never takes the keys of a removed device back.
    .action = On that device, cancel the join and ask again with a new code: it has new keys then.
error-keys-mismatch = This device can’t be let in with these keys
    .why = One of them belongs to a member of the group.
    .action = On that device, cancel the join and ask again with a new code: it has new keys then.
error-not-listed = The group doesn’t list this device at the moment
    .why = Devices made changes at the same time, and the changes haven’t met yet.
    .action = Wait until the other devices have been online, then try again.
error-manifest-awaited = News of the group is still missing here
    .why = Another device’s change, which this one builds on, is still on its way.
    .action = Wait a moment and try again. If you wanted to leave, Sealpost does it by itself.
error-versions-exhausted = The members of this group can’t change any more
    .why = Its list of members has had the last version there is.
    .action = Make a new group and pair the devices there.
error-group-unknown = This group isn’t here any more
    .why = It was left or removed meanwhile.
    .action = Choose another group in the list.
error-not-member = This device isn’t in the group
    .why = It has left, was removed, or hasn’t been accepted yet.
    .action = To get in, ask for a pairing code.
error-pairing-closed = This pairing code is closed
    .why = Its ten minutes are over, it was used, or its page was left.
    .action = Get a new code.
error-request-unknown = The device that asked is no longer waiting
    .why = It has cancelled, or was answered already.
    .action = Let it use a new code.
error-name-empty = This device has no name yet
    .why = The other devices of a group need something to call it.
    .action = Type a name.
error-backup-too-many-groups = There are more groups than a backup holds
    .why = It holds up to { $max } groups.
    .action = Delete restored groups that you don’t need. Nothing was written.
error-backup-would-replace = A file of this name is there already
    .why = Some groups can’t be opened and would be missing in this backup, so it replaces nothing.
    .action = Choose another name. Nothing was written.
error-clipboard-unavailable = The text could not be copied
    .why = The system’s clipboard didn’t take it.
    .action = Select the text and copy it yourself.

## Errors: the code that was entered

error-invitation-invalid = This is not a pairing code
    .why = It can’t be read as one.
    .action = Copy the whole link again, from trueseal:// to its end.
error-invitation-invalid-length = This is too long for a pairing code
    .why = A code has a few hundred letters; more than that was pasted.
    .action = Copy only the link, from trueseal:// to its end.
error-invitation-invalid-empty = There is no code yet
    .why = What was pasted holds nothing but space.
    .action = Copy the link on the other device and paste it here.
error-invitation-invalid-scheme = This is not a pairing link
    .why = A pairing link begins with trueseal://, and this one begins with something else.
    .action = Copy the link that the other device shows under its code.
error-invitation-invalid-key = The relay’s key in this link is damaged
    .why = The part between trueseal:// and @ is incomplete or was changed.
    .action = Copy the whole link again; don’t type it.
error-invitation-invalid-host = The relay’s address in this link is damaged
    .why = The part after @ is not the name or number of a computer.
    .action = Copy the whole link again.
error-invitation-invalid-port = A port in this link is damaged
    .why = A port is a number from 1 to 65535.
    .action = Copy the whole link again.
error-invitation-invalid-query = Something was added to this link
    .why = Another app has put its own parameters into it, or has cut some off.
    .action = Send the link another way, for example as plain text, or use the picture.
error-invitation-invalid-token = The last part of this link is damaged
    .why = The part after # is incomplete or was changed, even if only by one letter.
    .action = Copy the whole link again, to its very end.
error-invitation-invalid-wrapped = This link is broken over several lines
    .why = A mail program has put signs of its own between its parts.
    .action = Remove everything that doesn’t belong to the link, or use the picture.
error-invitation-is-own = This is this device’s own code
    .why = A code lets another device in; on its own device it leads nowhere.
    .action = Use it on the other device, or enter the code that the other device shows.
error-image-holds-no-code = There is no pairing code in this picture
    .why = Nothing in it could be read as one; it may be blurred, cut off or too small.
    .action = Take a picture of the whole code with its white border, or paste the link.
error-image-unreadable = This picture can’t be opened
    .why = It is neither a PNG nor a JPEG file, or is damaged.
    .action = Save it as PNG or JPEG, or paste the link.

## Errors: the relay

error-relay-address-invalid = This is not a relay address
    .why = It can’t be read as one.
    .action = Copy it again from whoever runs the relay; it begins with trueseal://.
error-relay-address-invalid-length = This is too long for a relay address
    .why = An address has a few hundred letters; more than that was pasted.
    .action = Copy only the address, from trueseal:// to its end.
error-relay-address-invalid-wrapped = There are signs in this relay address that don’t belong there
    .why = It was broken over several lines, or something was put between its parts.
    .action = Remove what doesn’t belong, or copy the address again as plain text.
error-relay-address-invalid-empty = There is no relay address yet
    .why = The field is empty.
    .action = Paste the address of the relay; it begins with trueseal://.
error-relay-address-invalid-scheme = This is not a relay address
    .why = A relay address begins with trueseal://, and this one begins with something else.
    .action = Copy it again from whoever runs the relay.
error-relay-address-invalid-key = The key in this relay address is damaged
    .why = The part between trueseal:// and @ is incomplete or was changed.
    .action = Copy the whole address again; don’t type it.
error-relay-address-invalid-host = The computer in this relay address is damaged
    .why = The part after @ is not the name or number of a computer.
    .action = Copy the whole address again.
error-relay-address-invalid-port = A port in this relay address is damaged
    .why = A port is a number from 1 to 65535.
    .action = Copy the whole address again.
error-relay-address-invalid-query = Something was added to this relay address
    .why = After the ? only “push=” and a port may stand.
    .action = Copy the address again as plain text.
error-relay-needed = This code names no relay
    .why = It is the bare code without the address of a relay.
    .action = Type the relay’s address below it, or ask for the whole link.
error-phone-port-in-use = Another program uses port { NUMBER($port, useGrouping: 0) }
    .why = It is the port at which your phones know this computer.
    .action = Stop the other program and try again. With another port, every phone has to be paired again.
error-phone-pairing-over = This pairing is over
    .why = Its code was used up, its time ran out, or it was ended on the phone.
    .action = Pair the phone again.
error-phone-unknown = This phone isn’t paired any more
    .why = It was unpaired here or on the phone.
    .action = Pair it again if you want it back.
error-phones-need-network = A phone can’t reach this computer
    .why = This computer is in no network that it knows an address in.
    .action = Connect it to the network that the phone is in, then try again.
error-phones-need-relay = The relay on this computer is off
    .why = Phones come in through it.
    .action = Switch it on, then pair the phone.
error-phones-too-many = There are { $max } phones already
    .why = More than that the relay on this computer doesn’t keep boxes for.
    .action = Unpair one that you don’t use any more.
error-phones-unusable = What this computer knows of its phones can’t be used
    .why = Its file can’t be read or written.
    .action = Make room on the disk, or see to it that the file can be read, then try again.
error-phones-unusable-key-missing = What this computer knows of its phones can’t be used
    .why = The key of its file isn’t in the keychain any more.
    .action = Bring the keychain item back if you can. Without it, no phone that was paired can be reached again.
error-phones-unusable-too-new = What this computer knows of its phones is newer than this app
    .why = A newer version of Sealpost wrote it.
    .action = Update Sealpost.
error-relay-port-in-use = Another program uses port { NUMBER($port, useGrouping: 0) }
    .why = The relay on this computer needs its ports for itself. Often it is another relay that was left running.
    .action = Stop the other program, then switch the relay on again.
error-relay-port-forbidden = The relay may not use port { NUMBER($port, useGrouping: 0) }
    .why = The system keeps this port for others.
    .action = Let this user open it, then switch the relay on again.
error-relay-data-not-writable = The relay can’t write its data
    .why = Its directory belongs to somebody else, is read-only, or the disk is full.
    .action = Mend that, then switch the relay on again. What it held is still there.
error-relay-store-unusable = The relay can’t open its data
    .why = Its files are damaged, can’t be written, or are of a newer version.
    .action = Free some space or update Sealpost, then switch the relay on again. What it held was left as it is.

## Errors: messages

error-message-empty = There is nothing to send
    .why = The message is empty.
    .action = Write something.
error-message-too-large = This message is too long
    .why = It has { $size } bytes, and { $max } are allowed.
    .action = Shorten it or make two messages of it. Nothing was cut off.

## Errors: data, keychain, passphrase

error-storage = The group’s data can’t be read or written
    .why = The disk may be full or read-only, or the file is damaged or opened with another key.
    .action = Free some space, then start Sealpost again. Nothing was deleted.
error-storage-full = The disk is full
    .why = The group’s data needs a little more room to be written.
    .action = Free some space, then try again. Nothing was deleted.
error-storage-damaged = The group’s data can’t be opened
    .why = The file is damaged, or belongs to other keys.
    .action = Bring it back from a backup. Nothing was deleted.
error-storage-in-use = The group’s data is in use
    .why = Another program has it open.
    .action = Close the other program. Sealpost tries again every few seconds.
error-store-too-new = This data is from a newer Sealpost
    .why = Its format is newer than this version knows, which would damage it.
    .action = Update Sealpost. Nothing was changed.
error-store-too-new-named = This data is from a newer Sealpost
    .why = Its format is { $found }, and this version knows { $known }.
    .action = Update Sealpost. Nothing was changed.
error-profile-damaged = The settings of this profile are damaged
    .why = The profile’s own file can’t be understood.
    .action = Bring the file back from a copy, or start with another profile and restore a backup there. Nothing was deleted.
error-profile-too-new = This profile is from a newer Sealpost
    .why = Its format is { $found }, and this version knows { $known }.
    .action = Update Sealpost. Nothing was changed.
error-profile-in-use = This profile is already open
    .why = Another Sealpost, in a window or on the command line, is working with it.
    .action = Use that one, or quit it and start again.
error-profile-name-invalid = This can’t be the name of a profile
    .why = A profile’s name has 1 to 64 letters, digits, - or _.
    .action = Start Sealpost with another name after --profile.
error-profile-not-writable = The data directory can’t be written
    .why = It belongs to somebody else, is read-only, or the disk is full.
    .action = Mend that, or name another one with --data-dir. Nothing was changed.
error-keys-too-new = The keys are from a newer Sealpost
    .why = A newer version has stored them, and this one can’t read them.
    .action = Update Sealpost. Nothing was changed.
error-key-file-unusable = The file with the keys can’t be used
    .why = It can’t be read or written, or is damaged.
    .action = Check the disk and who may read the data directory, then start Sealpost again.
error-key-file-unusable-exposed = Others on this computer can read the file with the keys
    .why = Nothing but its permissions protects it, and they let others in.
    .action = Let only its owner read it (mode 600), then start Sealpost again.
error-profile-not-writable-permission-denied = You may not write the data directory
    .why = It belongs to somebody else, or its permissions forbid it.
    .action = Mend its permissions, or name another one with --data-dir. Nothing was changed.
error-profile-not-writable-read-only = The data directory is read-only
    .why = Its disk was opened for reading only.
    .action = Name another one with --data-dir. Nothing was changed.
error-profile-not-writable-not-a-directory = There is no directory where the data should be
    .why = A part of that path is a file.
    .action = Move the file away, or name another place with --data-dir. Nothing was changed.
error-profile-not-writable-full = The disk is full
    .why = There is no room left for the data of this profile.
    .action = Free some space, then start again. Nothing was changed.
error-keychain-unusable = The keychain can’t be used
    .why = Sealpost keeps its keys in it.
    .action = Unlock or start it, and try again.
error-passphrase-wrong = This passphrase doesn’t open the keys
    .why = It is not the one they were locked with.
    .action = Check capital letters and the keyboard’s language, and try again.
error-passphrase-too-short = This passphrase is too short
    .why = It needs at least { $min } characters.
    .action = Make it longer; four or five words are good.

## Errors: files, settings, links

error-backup-damaged = This backup is damaged
    .why = A part of it is not what was written.
    .action = Choose another copy of it. Nothing was changed.
error-backup-damaged-truncated = This backup is cut off
    .why = A part at its end is missing; perhaps it was not copied completely.
    .action = Copy it once more, or choose another one. Nothing was changed.
error-backup-damaged-reordered = This backup was changed
    .why = Its parts are in another order than they were written in.
    .action = Choose another copy of it. Nothing was changed.
error-backup-damaged-appended = This backup was changed
    .why = Something stands behind its end.
    .action = Choose another copy of it. Nothing was changed.
error-backup-foreign = This file is no backup
    .why = It was made by something else.
    .action = Choose another file. Nothing was changed.
error-backup-no-room = The disk is full
    .why = There is no room for all of it.
    .action = Free some space, or choose another place. Nothing was changed, and an earlier backup is still there.
error-backup-not-synced = The backup is written, but perhaps not for good
    .why = Its folder could not be made durable: if the power fails now, the file may be gone.
    .action = The file is complete. Look for it after the next start, or make another one on another disk.
error-backup-occupied = A file of this name is there already
    .why = It is no backup, and only a backup is replaced by one.
    .action = Choose another name. Nothing was written.
error-backup-passphrase-wrong = This passphrase doesn’t open the backup
    .why = It is not the one that the backup was made with.
    .action = Check capital letters and the keyboard’s language, and try again.
error-backup-too-new = This backup is from a newer Sealpost
    .why = Its format is { $found }, and this version knows { $known }.
    .action = Update Sealpost. Nothing was changed.
error-file-unreadable = The file can’t be read
    .why = It may be gone, or belong to somebody else.
    .action = Choose another file.
error-file-unwritable = The file can’t be written
    .why = The place may be full, read-only or somebody else’s.
    .action = Choose another place. Nothing was saved.
error-group-name-invalid = This can’t be the name of a group
    .why = A name has 1 to { $max } bytes and something in it that can be seen.
    .action = Choose another name.
error-group-not-over = This device is still in the group
    .why = Its history can be deleted once the group is over for this device.
    .action = Leave the group first.
error-link-refused = This link was not opened
    .why = Only addresses that begin with http or https are opened.
    .action = Copy it and look at it closely before you use it elsewhere.
error-member-unknown = The group has no such device any more
    .why = It has left or was removed meanwhile.
    .action = Nothing to do.
error-message-unknown = This message is not there any more
    .why = It was deleted on this device.
    .action = Nothing to do.
error-no-memory = There is too little memory at the moment
    .why = A key from a passphrase needs 64 MiB for a second.
    .action = Close other programs and try again. Nothing was changed.
error-not-available = This version can’t do that yet
    .why = It comes with a later version.
    .action = Update Sealpost when there is one.
error-relay-ports-invalid = These ports can’t be used
    .why = The two have to be different numbers from 1 to 65535.
    .action = Choose other numbers.
error-start-at-login-unavailable = Sealpost can’t be started at login
    .why = The entry for it can’t be written.
    .action = Check who may write your configuration folder, then try again.

## Delivery issues

issue-unreadable-malformed = Something arrived that is no message
    .why = Its bytes are damaged, or were never meant for this device. Anyone who knows this device’s key can cause this.
    .action = Nothing to do. If it happens often, tell whoever runs the relay.
issue-unreadable-sender-outdated = A message came from a version that is too old
    .why = Its sender’s Sealpost writes a format that this one no longer reads.
    .action = Update Sealpost on the other device and send the message again.
issue-unreadable-expired = A message was more than 60 days old
    .why = So old a copy is not accepted, so that nobody can repeat it. The clock of one of the two devices may also be wrong.
    .action = Check both clocks. If the message matters, ask for it again.
issue-unreadable-dropped-while-held = A message that waited for an update was lost
    .why = More than 100 messages of a newer version waited for this device; the oldest gave way.
    .action = Update Sealpost now. Each further message pushes out another one.
issue-unauthorized = Something came from somebody who may not send it
    .why = Its sender is not in the group, or not any more; or it asked to join with a code that is closed.
    .action = Nothing to do. If a device waits to join, show it a new code. If one is missing in the list of members, pair it again.
issue-held-for-upgrade = A message waits for an update
    .why = It was written by a newer version of Sealpost. It waits on the relay, for 30 days at most.
    .action = Update Sealpost on this device. Nothing is lost yet.
issue-handler-gave-up = A message could not be processed
    .why = It was tried five times and failed each time.
    .action = Report this as a fault. Ask for the message again once it is mended.
issue-send-failed-too-large = A message was not delivered: it is too large
    .why = This relay accepts only smaller messages.
    .action = Split it and send the parts.
issue-send-failed-malformed = A message was not delivered: the relay can’t read it
    .why = That should not happen: this program or the relay has a fault.
    .action = Report it as a fault, then send the message again.
issue-send-failed-expired = A message was not delivered: 30 days went by
    .why = The relay took it from this device at no time in these days.
    .action = Check the connection to the relay, then send it again.
issue-id-reused = Two different messages bear one number
    .why = The sender’s device exists twice, or its program has a fault. Only the first message was shown.
    .action = Ask the sender to send the second one again, and to use one device only.
issue-device-copied = This device runs twice
    .why = Another program uses the keys of this device: its profile was copied. The relay hands each message to either of them, so both may miss some.
    .action = Stop one of the two and delete its profile. To use both computers, pair the second as a device of its own.
issue-store-restored = This group’s data is older than its keys
    .why = It was restored from a backup, or is a copy, and another one was used since. Messages that were received meanwhile are missing here.
    .action = If another copy of this profile is still used, stop one of them. Ask for messages that are missing.
issue-store-repaired = This group’s data was damaged and has been repaired
    .why = A part of its file could not be read, perhaps because the disk fails. What could be read was taken over; the old file was kept.
    .action = Check the disk. What is missing now, others can send again.
issue-store-reset = This device started over and is not in the group any more
    .why = This group’s data was of a version that Sealpost can’t read any more. The messages on this device are gone.
    .action = Pair this device again, and remove its old entry on another device.
issue-away-too-long = This device was away for so long that messages may be missing
    .why = A relay keeps what waits for a device for 30 days. What was written before that, while this device had no relay, may never come. Some relays keep it for less; then the span ends later.
    .action = Ask the others to send what matters again.
issues-missing = From { $from } to { $until }
issues-unknown = Something happened that this version has no words for
    .why = It was noted by a newer version of Sealpost.
    .action = Update Sealpost to read what it was.

## The page for phones

page-opening = Opening…
page-reload = Load the page again
page-start-title = Pair this phone first
    .about = On the computer, open Phones in Sealpost and choose to pair a phone. Then point this phone’s camera at the code: it opens this page by itself.
    .lost = If this phone was paired before, its browser has cleared what the page kept, or the relay has another address now. Pair it again; on the computer, remove the old entry.
page-code-version = The code needs another version
    .about = It was made by another version of Sealpost than this page. Update Sealpost on the computer, then show a new code.
page-code-damaged = The code isn’t complete
    .about = A part of it was lost or changed on the way here. Scan the code from the screen itself, with the phone’s own camera.
page-storage-none = This browser keeps nothing here
    .about = In a private window, or with storage switched off, what arrives would be lost. Open the page in a normal window: show a new code and scan it there.
page-storage-broken = Something could not be stored
    .about = The phone is full, or the browser has taken the storage away. What wasn’t stored is fetched again, so nothing is lost. Make room, then load the page again.
page-scan-again = On the computer, show a new code and scan it with this phone’s camera.
page-trust = Only pair on a network you trust.

page-pairing-title = Pairing with { $desktop }
page-pairing-computer = the computer
page-step-relay = Reach the relay
page-step-answer = { $desktop } answers
page-step-compare = Compare the digits
page-step-confirm = Confirm on { $desktop }
page-pairing-connecting = Reaching the relay…
page-pairing-waiting = Waiting for { $desktop }. Leave the code open there.
page-digits-title = Are these the digits on { $desktop }?
page-digits-label = Six digits: { $digits }
page-digits-same = The codes match
page-digits-different = They differ
page-digits-about = If they differ, somebody may be in between. “They differ” stops here, and nothing is paired.
page-confirm-title = Now confirm on { $desktop }
    .about = You said that these digits match. As soon as the same is said on the computer, this phone is paired.
page-paired = Paired with { $desktop }.

page-failed-expired = This code is no longer valid
    .about = A code is good for five minutes and for one phone.
page-failed-ended = The pairing was ended on the computer
    .about = It was cancelled there, took too long, or another device used the same code. Nothing was paired.
page-failed-different = Nothing was paired
    .about = You said that the digits differ. If nobody mistyped or mixed up two codes, somebody in this network may have tried to get in between.
page-failed-other = Another device used this code
    .about = The computer answered a device that isn’t this phone. Nothing was paired.
page-failed-forged = An answer was not genuine
    .about = What came back could not be proved to be from the computer that showed the code. Nothing was paired. Try it on a network you trust.
page-failed-token = The relay knows this code differently
    .about = Something else has taken its place on the relay. Nothing was paired.
page-failed-refused = The relay didn’t understand this page
    .about = They are of different versions. Load the page again; if that doesn’t help, update Sealpost on the computer.
page-replace-title = This phone is already paired with { $desktop }
    .about = One page is paired with one computer. If you go on, the messages here are removed from this phone once the new pairing is done, and what still waits here is given up.
page-replace-go = Pair anew
page-replace-keep = Keep it as it is

page-farewell-here = This phone is unpaired
    .about = Its key and its messages are deleted here. The computer is told as soon as the relay is reached; keep this page open until then, if you can.
page-farewell-there = This phone was unpaired on the computer
    .about = Its key and its messages are deleted here. On the computer they are all still there.
page-farewell-texts = These texts had not reached the computer. Copy what you need:
page-understood = Understood

page-groups-waiting = Waiting for { $desktop }
    .about = The groups appear here as soon as the computer sends them. It has to be switched on, with Sealpost running.
page-groups-none = No group to show yet
    .about = A group comes here when it is shared with this phone and has a second device. Which ones are shared is chosen on { $desktop }, under Phones.
page-group-not-connected = { $desktop } can’t reach this group’s relay
page-group-needs-you = Something needs you on { $desktop }
page-group-ended = Nothing more can be written in this group
page-group-gone = This group isn’t shared with this phone any more.
page-group-waiting = { $count ->
    [one] one text waits here
   *[other] { $count } texts wait here
}

page-connecting = Connecting…
page-offline = This phone has no network. What you write waits here and goes out by itself.
page-unreachable = No connection to { $relay }. What you write waits here and goes out by itself.
page-busy = The relay is busy. What you write waits here and goes out by itself.
page-misbehaves = What answers at { $relay } makes no sense. What you write waits here; if it goes on, look at the relay on the computer.
page-refused-address = The relay doesn’t answer under this address any more. What you write waits here. Scan a new code if it stays so.
page-not-understood = The relay and this page are of different versions. What you write waits here.
page-wrong-token = Something else has taken this phone’s place on the relay. Pair it again.
page-blocked = { $desktop } hasn’t fetched anything for a while, and the relay holds no more for it. The rest waits here.
page-unconfirmed = The relay had lost what it kept for this phone. Waiting for a sign of { $desktop }.
page-unconfirmed-long = For a week there was no sign of { $desktop }. If it doesn’t know this phone any more, unpair here and pair again.
page-link-lost = The relay doesn’t know this phone any more. It was removed on { $desktop }, or neither was used for 30 days. If it stays so, unpair here and pair again.
page-newer = { $desktop } has a newer version than this page. Load it again.
page-clock-ahead = This phone’s clock is fast by { $span }. Set it right, or what waits may expire too soon.
page-clock-behind = This phone’s clock is slow by { $span }. Set it right while this page is open, or what waits may expire too soon.

page-text-waiting = Waits on this phone
page-text-stored = On relay, waiting for { $desktop }
page-text-received = { $desktop } has it
page-text-failed = Not delivered: { $reason }
page-text-retry = Write it again
page-refused-not-member = { $desktop } isn’t in this group any more
page-refused-gone = the group has ended
page-refused-not-shared = the group isn’t shared with this phone
page-refused-other = { $desktop } could not take it
page-older-asked = Fetching older messages from { $desktop }…
page-older-waiting = Older messages are on { $desktop }. They come when it answers.
page-empty = What you write goes to { $desktop }, and from there to the group.
page-cut = This is only the beginning. The whole text is on { $desktop }.
page-by-this-phone = From this phone

page-phone-title = This phone
page-phone-with = Paired with
page-phone-name = Called there
page-phone-contact = Last word from it
page-phone-no-contact = None yet
page-phone-waiting = Waiting here
page-phone-waiting-none = Nothing
page-phone-relay = Through
page-language = Language
page-language-phone = As the phone
page-home-title = One tap away
    .about = Add this page to the home screen from the browser’s menu. On an iPhone or iPad the copy there keeps its own data: open that one and scan the code from it.
page-network-title = On this network
    .about = Messages are sealed between this phone and the computer. Over http, though, somebody who controls this network could change the page itself while it loads. Use it on networks that you trust.
page-unpair = Unpair this phone
page-unpair-title = Unpair this phone from { $desktop }?
page-unpair-does = The key, the messages and what still waits here are deleted from this phone, and the computer is told.
page-unpair-not = Nothing is deleted on the computer, and what was written stays in the groups.
