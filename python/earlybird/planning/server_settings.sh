#
#   sh SCRIPT apply    makes the settings, for now and for restarts; repeated, it changes nothing
#   sh SCRIPT check    prints each setting; exit code 1 if one is not as it should be
#   sh SCRIPT undo     restores the values before `apply`
#
# As root. VIEWER=ADDRESS sh SCRIPT ... is for the route to a viewer, where that is not the default route, and the
# address of the receiver of a relay, whose key is that of PASSPHRASE=... (10 to 79 characters, the same at both ends).
set -eu
export LC_ALL=C

state=/var/lib/earlybird
sysctl_file=/etc/sysctl.d/90-earlybird.conf
module_file=/etc/modules-load.d/earlybird.conf
unit=earlybird-sender.service
unit_file=/etc/systemd/system/$unit
wrong=0

# Since Linux 6.11 a sysctl is enough, which unlike a route is kept when an address is renewed.
if [ -n "$RTO_MIN" ] && [ -z "$VIEWER$INTERFACE" ] && [ -e /proc/sys/net/ipv4/tcp_rto_min_us ]; then
    SYSCTLS="$SYSCTLS
net.ipv4.tcp_rto_min_us=${RTO_MIN%ms}000"
    RTO_MIN=
fi

fail() { echo "$0: $*" >&2; exit 1; }
report() { # RESULT TEXT
    [ "$1" = ok ] || wrong=1
    printf '%-6s %s\n' "$1" "$2"
}
has_systemd() { [ -d /run/systemd/system ]; }
value_of() { sysctl -n "$1" | tr '\t' ' '; }
of_pert() { "$(cat $state/earlybird)" kernel "$@"; }

# The route to the viewers on one line, as `ip route change` takes it, which prints a lock that it does not read.
route() {
    if [ -n "$VIEWER" ]; then ip -o route get fibmatch "$VIEWER"
    elif [ -n "$INTERFACE" ]; then ip -o route show default dev "$INTERFACE" | sed "s/\$/ dev $INTERFACE/"
    else ip -o route show default
    fi | head -n 1 | tr -d '\134' | sed 's/ rto_min lock / rto_min /; s/ expires \([0-9]*\)sec/ expires \1/'
}
# Nexthops have to be last: the timeout stands behind the destination.
with_rto_min() { sed "s/ rto_min [^ ]*//; s/^[^ ]*/& rto_min $RTO_MIN/"; }

start() { # what no file keeps over a restart
    if [ -n "$RTO_MIN" ]; then
        now=$(route)
        [ -n "$now" ] || fail "there is no default route${INTERFACE:+ over $INTERFACE}: VIEWER=ADDRESS names a viewer"
        echo "$now" | with_rto_min | xargs ip route change
    fi
    [ -z "$PERT" ] || of_pert status | grep -q '^pert: pinned' || of_pert load pert --pin --namespace self
}

save() { # the values before
    mkdir -p $state
    if [ -n "$RTO_MIN" ]; then route > $state/route; fi
    if [ -n "$PERT" ]; then
        command -v earlybird > $state/earlybird || fail "the program earlybird is not there"
    fi
    echo "$SYSCTLS${PERT:+net.ipv4.tcp_congestion_control=}" | while IFS='=' read -r key _; do
        [ -z "$key" ] || echo "$key=$(value_of "$key")"
    done > $state/sysctl.new
    mv $state/sysctl.new $state/sysctl
}

write_unit() { # SERVICE LINES
    mkdir -p "${unit_file%/*}"
    printf '%s\n' "# Written by earlybird's settings" '[Unit]' 'Wants=network-online.target' \
        'After=network-online.target' '[Service]' "$@" '[Install]' 'WantedBy=multi-user.target' > $unit_file
    has_systemd || { echo "no systemd runs here: after each restart run sh $state/settings.sh start"; return 0; }
    systemctl daemon-reload
    systemctl -q enable $unit
}

write_key() { # for the unit, which only root reads
    [ ${#PASSPHRASE} -ge 10 ] || fail "PASSPHRASE=... VIEWER=... sh $0 apply: 10 characters or more, as at the receiver"
    case $PASSPHRASE in *[\'\"\\]*) fail "PASSPHRASE: quotation marks and backslashes are not allowed" ;; esac
    (umask 077 && echo "EARLYBIRD_PASSPHRASE='$PASSPHRASE'" > $state/environment)
}

write_command_unit() {
    [ -n "$VIEWER" ] || fail "VIEWER=ADDRESS sh $0 apply: the address of the relay or player"
    program=$(command -v "${COMMAND%% *}") || fail "the program ${COMMAND%% *} is not there"
    has_systemd || fail "no systemd runs here: have this started in its place: $COMMAND"
    if [ -n "$HAS_KEY" ]; then write_key; fi
    write_unit 'DynamicUser=yes' 'Restart=always' ${HAS_KEY:+"EnvironmentFile=$state/environment"} \
        "ExecStart=$program $(echo "${COMMAND#* }" | sed "s/VIEWER/$VIEWER/g")"
    systemctl restart $unit
}

apply() {
    [ -f "$0" ] || fail "run it as a file: it is kept for undo"
    for file in $sysctl_file $module_file $unit_file; do
        [ ! -e "$file" ] || [ -e $state/sysctl ] || fail "$file is there already, from elsewhere: remove it first"
    done
    if [ -e $state/sysctl ] && ! cmp -s "$0" $state/settings.sh; then sh $state/settings.sh undo; fi # of another plan
    if [ ! -e $state/sysctl ]; then save; cp "$0" $state/settings.sh; fi
    if [ -n "$MODULE" ]; then
        mkdir -p "${module_file%/*}"
        echo "$MODULE" > $module_file
        modprobe "$MODULE" 2> /dev/null || : # fails where it is built into the kernel
    fi
    if [ -n "$SYSCTLS" ]; then
        mkdir -p "${sysctl_file%/*}"
        echo "$SYSCTLS" > $sysctl_file
        sysctl -q -p $sysctl_file
    fi
    if [ -n "$COMMAND" ]; then write_command_unit; fi
    if [ -n "$RTO_MIN$PERT" ]; then
        start
        write_unit 'Type=oneshot' "Environment=VIEWER=$VIEWER" "ExecStart=/bin/sh $state/settings.sh start"
    fi
}

check_sysctl() { # KEY VALUE
    now=$(value_of "$1")
    if [ "$now" = "$2" ]; then report ok "$1 = $now"; else report WRONG "$1 = $now, not $2"; fi
    later=
    for file in /etc/sysctl.d/*.conf /etc/sysctl.conf; do
        if [ "$file" = $sysctl_file ]; then later=yes
        elif [ -n "$later" ] && grep -s "^[ -]*$1 *=" "$file" | grep -qv "= *$2 *\$"; then
            report WRONG "$file sets $1 too, and counts after a restart"
        fi
    done
}

check() {
    while IFS='=' read -r key value; do
        [ -z "$key" ] || check_sysctl "$key" "$value"
    done << END
$SYSCTLS
END
    [ -z "$RTO_MIN" ] || case "$(route) " in
        *" rto_min $RTO_MIN "*) report ok "$(route)" ;;
        *) report WRONG "$(route), without rto_min $RTO_MIN" ;;
    esac
    for file in ${SYSCTLS:+"$sysctl_file"} ${MODULE:+"$module_file"} ${RTO_MIN:+"$unit_file"} \
        ${PERT:+"$unit_file"} ${COMMAND:+"$unit_file"}; do
        if [ -e "$file" ]; then report ok "$file, for restarts"; else report WRONG "$file is missing"; fi
    done
    [ -z "$COMMAND" ] || if systemctl -q is-active $unit; then report ok "$unit runs"; else report WRONG "$unit is off"; fi
    [ -z "$PERT" ] || if of_pert status | grep '^pert: '; then :; else report WRONG "pert is not loaded"; fi
    [ -z "$CONTROL" ] || echo "$(ss -Htin | grep -cw "$CONTROL") of $(ss -Htn | wc -l) connections have $CONTROL;" \
        "open ones keep theirs"
    return $wrong
}

undo() {
    [ -e $state/sysctl ] || fail "nothing to undo: $state has no former values"
    if [ -e $unit_file ] && has_systemd; then systemctl -q disable --now $unit; fi
    rm -f $unit_file $module_file $sysctl_file
    if has_systemd; then systemctl daemon-reload; fi
    [ ! -s $state/route ] || xargs ip route change < $state/route
    [ ! -s $state/sysctl ] || sysctl -q -p $state/sysctl
    [ -z "$PERT" ] || of_pert unload
    rm -r $state
}

[ "$(id -u)" = 0 ] || fail "this needs root"
case "${1-}" in
    apply | check | undo | start) "$1" ;;
    *) fail "one of: apply, check, undo" ;;
esac
