/* The changes that advice tries, in the order in which they are applied together: a change of a
 * copy's memory comes before one that divides it. The build takes src/advise/change_NAME.c of each
 * line. */
HAUL_CHANGE(pin)
HAUL_CHANGE(symbol)
HAUL_CHANGE(redundant)
HAUL_CHANGE(round_trip)
HAUL_CHANGE(batch)
HAUL_CHANGE(map)
HAUL_CHANGE(prefetch)
HAUL_CHANGE(stream)
HAUL_CHANGE(split)
