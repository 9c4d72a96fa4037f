import type { ChangeLog } from "./schema.ts";

/** What stands in the log, by type: id prefix, names, and fields that people change. */
export const SUBJECTS: Record<
  ChangeLog["resource_type"],
  { prefix: string; names: readonly string[]; fields: Readonly<Record<string, readonly string[]>> }
> = {
  organization_user: {
    prefix: "usr_",
    names: ["Ines Duarte", "Omar Farah", "Lena Vogel", "Tomas Novak", "Aiko Mori"],
    fields: { role: ["member", "admin"], account: ["active", "suspended"] },
  },
  assistant: {
    prefix: "asst_",
    names: ["Onboarding guide", "Release notes", "Contract reader", "Support triage", "Travel desk"],
    fields: {
      description: ["Answers questions of new colleagues", "Answers from the handbook alone"],
      model: ["atlas-large", "comet-mini"],
    },
  },
  rule: {
    prefix: "rule_",
    names: ["No personal data", "Cite your sources", "Reply in the reader's language", "Escalate refunds"],
    fields: { severity: ["info", "warning", "blocking"], scope: ["all assistants", "customer-facing"] },
  },
  document: {
    prefix: "doc_",
    names: ["Expense policy", "Security handbook", "Travel guide", "Price list", "Incident playbook"],
    fields: { title: ["Draft", "Final"], visibility: ["team", "organization"] },
  },
};
