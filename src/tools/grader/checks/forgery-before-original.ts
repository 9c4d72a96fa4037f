import { type Check, isPutOff, notObservable } from "../check.ts";
import { describe } from "../describe-exchange.ts";
import { deliverInTurn, judgeEffects, onceEach } from "../expectations.ts";

const ADVICE = "Verify the signature before anything is remembered or looked up.";

export const forgeryBeforeOriginal: Check = {
  id: "forgery-before-original",
  title: "A forged delivery doesn't make the genuine one a duplicate",
  severity: "major",
  why: "If the id is remembered before the signature is verified, anyone can suppress deliveries by sending their ids first.",
  advice: ADVICE,
  mends: ["conflict"],
  async run(session) {
    const before = await session.readProbe();
    const delivery = session.makeDelivery();
    const forged = await session.deliver({ ...delivery, signature: `sha256=${"0".repeat(64)}` });
    const refusal = await deliverInTurn(session, [delivery]);
    if (refusal) return refusal;
    const expected = onceEach([delivery]);
    const finding = await judgeEffects(session, { before, expected, whenMissing: ADVICE });
    if (finding.outcome !== "passed" || !isPutOff(forged)) return finding;
    return notObservable(
      `the forged delivery may not have been looked at: the receiver ${describe(forged)}`,
      forged,
    );
  },
};
