# percentiles.dat: the periods of the steps that count, of all devices, in ns.
$col["period"] > 0 { print $col["period"] }
