# One flow with delayed ACKs in ns-2.35, as tools/delayed_acks.py runs it:
#   ns trace.tcl tcp=Sack1 drops="14 28" delack=0.1 out=FILE [key=value ...]
# s1 -- 8 Mb/s, 0 ms -- r1 -- rate, delay, drop-tail -- k1; FTP from t = start (1 s); the packets numbered in drops are lost between
# r1 and k1. FILE.tr gets the queues' traces, and the sender's window, threshold, back-off and timeouts.
array set o {tcp Sack1 drops {} out trace wnd 28 dur 10 singledup 1 minrto 0.2 precision 1 rtxinit 3.0 updvar 1
             nrchanges1 1 deflate 1 rate 800Kb delay 100ms queue 8 delack 0.1 start 1.0}
foreach a $argv {
    if {![regexp {^(\w+)=(.*)$} $a - k v] || ![info exists o($k)]} { error "bad option $a" }
    set o($k) $v
}
set ns [new Simulator]
Agent/TCP set tcpTick_ 0.01
foreach {v k} {window_ wnd singledup_ singledup minrto_ minrto precisionReduce_ precision rtxcur_init_ rtxinit
        updated_rttvar_ updvar} { Agent/TCP set $v $o($k) }
Agent/TCP/Newreno set newreno_changes1_ $o(nrchanges1)
Agent/TCP/Newreno set partial_window_deflation_ $o(deflate)
foreach sink {TCPSink/DelAck TCPSink/Sack1/DelAck} { Agent/$sink set interval_ ${o(delack)}s }
Trace set show_tcphdr_ 1
foreach n {s1 r1 k1} { set $n [$ns node] }
set tr [open $o(out).tr w]
$ns duplex-link $s1 $r1 8Mb 0ms DropTail
$ns duplex-link $r1 $k1 $o(rate) $o(delay) DropTail
$ns queue-limit $r1 $k1 $o(queue); $ns queue-limit $k1 $r1 $o(queue)
if {$o(drops) ne ""} {
    set em [new ErrorModel/List]; $em unit pkt; $em droplist $o(drops)
    $em drop-target [new Agent/Null]
    $ns lossmodel $em $r1 $k1
}
set tcp [expr {$o(tcp) eq "Tahoe" ? [new Agent/TCP] : [new Agent/TCP/$o(tcp)]}]
set sink [expr {$o(tcp) eq "Sack1" ? [new Agent/TCPSink/Sack1/DelAck] : [new Agent/TCPSink/DelAck]}]
$ns attach-agent $s1 $tcp; $ns attach-agent $k1 $sink; $ns connect $tcp $sink
$ns trace-queue $s1 $r1 $tr; $ns trace-queue $r1 $k1 $tr; $ns trace-queue $r1 $s1 $tr
$tcp attach $tr
foreach v {cwnd_ ssthresh_ backoff_ nrexmit_} { $tcp trace $v }
$ns at $o(start) "[$tcp attach-source FTP] start"
$ns at $o(dur) { $ns flush-trace; close $tr; exit 0 }
$ns run
