# The scenario scenarios/dumbbell.toml in ns-2, for `earlybird bench`: prints the packets that left the bottleneck.
#   ns dumbbell.tcl LOG
# What the video receivers hand to their applications is written to the file LOG, as lateness is judged from it.
# The links have no flow monitors: earlybird's counters per group have no counterpart in the time measured here.
set seconds 1000
set pairs 28
set sessions 200
set hosts 20
set log [open [lindex $argv 0] w]

Agent/TCP set packetSize_ 1000
Agent/TCP set window_ 64
Agent/TCP set singledup_ 1
Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 0.2
Agent/TCP set overhead_ 0
Agent/TCP set LimTransmitFix_ 0
Queue set limit_ 10000

set ns [new Simulator]
set random [new RNG]
$random seed 1

set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 25Mb 15ms DropTail
$ns queue-limit $left $right 80
set bottleneck [$ns monitor-queue $left $right ""]

# A host on each side with its own access links.
proc host_pair {} {
    global ns left right
    set source [$ns node]
    set target [$ns node]
    $ns duplex-link $source $left 10Mb 5ms DropTail
    $ns duplex-link $right $target 10Mb 5ms DropTail
    return [list $source $target]
}

# A connection between two new hosts; returns its sender and receiver.
proc connection {} {
    global ns
    lassign [host_pair] source target
    set sender [new Agent/TCP/Sack1]
    set receiver [new Agent/TCPSink/Sack1]
    $ns attach-agent $source $sender
    $ns attach-agent $target $receiver
    $ns connect $sender $receiver
    return [list $sender $receiver]
}

proc any_start {} {
    global random
    return [$random uniform 0 50]
}

# An application at the receiver that logs the time of everything delivered in order.
Class Viewer -superclass Application
Viewer instproc recv bytes {
    global ns log
    puts $log "[$self set name] [format %.6f [$ns now]] $bytes"
}

for {set i 0} {$i < $pairs} {incr i} {
    lassign [connection] sender receiver
    set camera [new Application/Traffic/CBR]
    $camera attach-agent $sender
    $camera set rate_ 300000
    $camera set packetSize_ 1000
    $camera set random_ 0
    set viewer [new Viewer]
    $viewer set name $i
    $viewer attach-agent $receiver
    $viewer start
    $ns at [any_start] "$camera start"
}

for {set i 0} {$i < $pairs} {incr i} {
    lassign [connection] sender receiver
    set transfer [$sender attach-source FTP]
    $ns at [any_start] "$transfer start"
}

proc variable_of {kind args} {
    set variable [new RandomVariable/$kind]
    foreach {name value} $args { $variable set $name $value }
    return $variable
}

PagePool/WebTraf set TCPTYPE_ Sack1
PagePool/WebTraf set TCPSINKTYPE_ TCPSink/Sack1
set web [new PagePool/WebTraf]
$web set-num-server $hosts
$web set-num-client $hosts
for {set i 0} {$i < $hosts} {incr i} {
    lassign [host_pair] server client
    $web set-server $i $server
    $web set-client $i $client
}
$web set-num-session $sessions
for {set i 0} {$i < $sessions} {incr i} {
    # pages without end, a pause between them, one object each, hardly any pause between objects, object size
    $web create-session $i 1000000 [any_start] \
        [variable_of Exponential avg_ 15] [variable_of Constant val_ 1] \
        [variable_of Exponential avg_ 0.01] [variable_of ParetoII avg_ 12 shape_ 1.2]
}

$ns at $seconds {
    puts [$bottleneck set pdepartures_]
    exit 0
}
$ns run
