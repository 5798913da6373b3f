#!/bin/busybox sh
# The first process of a virtual machine: loads PERT, sends with it, and takes it out again. `tools/kernel_versions.py` reads what it prints.
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /www
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs devtmpfs /dev
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
ip link set lo up
dd if=/dev/urandom of=/www/file bs=1M count=4 2> /dev/null
httpd -p 127.0.0.1:80 -h /www

control() { cat /proc/sys/net/ipv4/tcp_congestion_control; }
is_registered() { grep -qw pert /proc/sys/net/ipv4/tcp_available_congestion_control; }
ask() { earlybird-kernel "$1"; }
step() { # NAME COMMAND...: prints whether a step succeeded
    name=$1; shift
    if "$@" > /tmp/out 2>&1; then echo "STEP ok $name"; else echo "STEP failed $name: $(tr '\n' ' ' < /tmp/out)"; fi
}
load() {
    ask '{"load": {"name": "pert", "settings": [], "namespaces": ["self"]}}' > /tmp/loaded || return
    is_registered && [ "$(control)" = pert ]
}
transfer() {
    wget -q -O /tmp/file http://127.0.0.1/file && cmp /tmp/file /www/file && ask '"status"' > /tmp/status || return
    grep -Eq '"(opened|connections)":[1-9]' /tmp/status || { cat /tmp/status; return 1; }
}
unload() { ask '{"unload": "pert"}' && ! is_registered && [ "$(control)" = "$default" ]; }
kill_holder() {
    kill -9 "$(sed 's/.*"holder":\([0-9]*\).*/\1/' /tmp/loaded)" || return
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        if ! is_registered && [ "$(control)" = "$default" ]; then return 0; fi
        sleep 1
    done
    return 1
}
run() { ask '{"run": {"name": "pert", "settings": [], "command": ["wget", "-q", "-O", "/tmp/again", "http://127.0.0.1/file"]}}' && ! is_registered; }

default=$(control)
echo "STEP ok boot $(uname -r)"
mkdir -p /tmp
step load load
step transfer transfer
step unload unload
step "load again" load
step "kill -9 of the holder" kill_holder
step "one command" run
poweroff -f
