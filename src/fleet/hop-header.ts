/** Names the node that passed a request on: whoever gets it serves it or refuses it. */
export const HOP_HEADER = "x-understudy-hop";
