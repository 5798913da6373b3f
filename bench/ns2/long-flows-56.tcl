# The scenario scenarios/bench-56-flows.toml in ns-2, for `earlybird bench`: prints the packets that left the bottleneck.
#   ns long-flows-56.tcl
set seconds 1000
set flows 56

Agent/TCP set packetSize_ 1000
Agent/TCP set window_ 128
Queue set limit_ 10000

set ns [new Simulator]
set random [new RNG]
$random seed 1

set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 25Mb 20ms DropTail
$ns queue-limit $left $right 160
set bottleneck [$ns monitor-queue $left $right ""]

for {set i 0} {$i < $flows} {incr i} {
    set source [$ns node]
    set target [$ns node]
    $ns duplex-link $source $left 10Mb 2.5ms DropTail
    $ns duplex-link $right $target 10Mb 2.5ms DropTail
    set sender [new Agent/TCP/Sack1]
    set receiver [new Agent/TCPSink/Sack1/DelAck]
    $ns attach-agent $source $sender
    $ns attach-agent $target $receiver
    $ns connect $sender $receiver
    set transfer [$sender attach-source FTP]
    $ns at [$random uniform 0 5] "$transfer start"
}

$ns at $seconds {
    puts [$bottleneck set pdepartures_]
    exit 0
}
$ns run
