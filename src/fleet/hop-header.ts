/** Names the node that passed a request on: whoever gets it serves it or refuses it. */
export const HOP_HEADER = "x-understudy-hop";
/** In the refusal, where nothing was done: the same request may go to the next owner. */
export const MOVED = "moved";
