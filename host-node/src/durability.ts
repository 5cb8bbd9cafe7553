/** `full`: a commit that has returned survives a loss of power. `relaxed`: the system decides when to sync. */
export type Durability = 'full' | 'relaxed'
