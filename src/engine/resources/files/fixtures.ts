import { chooseCreation, type Factory } from "../../contract/factory.ts";
import { createEntryFormat, createListReader } from "../../contract/fixture-entry.ts";
import { inventFilename } from "../../contract/invent.ts";
import { guessType, toExtension, toMediaType, UNKNOWN_TYPE } from "../../contract/media-types.ts";
import { DAY_MS } from "../../state/clock.ts";
import { chooseOrganization, findAuthor } from "../organizations/access.ts";
import { FileObject, files, toStoragePath } from "./schema.ts";

/** Extensions of generated files. */
const EXTENSIONS = [".pdf", ".pdf", ".pdf", ".md", ".md", ".txt", ".csv", ".json"] as const;

/** Unknown, or the types that systems send for TypeScript (a video), CSV (Excel), Markdown and Office files (ZIP). */
const VAGUE_TYPES = new Set([
  UNKNOWN_TYPE,
  "video/mp2t",
  "video/vnd.dlna.mpeg-tts",
  "application/vnd.ms-excel",
  "application/x-genesis-rom",
  "application/zip",
]);

/** The type by which a file is processed: the type of its name if the given type is vague (G34). */
export function findEffectiveType({ mime_type, filename }: { mime_type: string; filename: string }): string {
  const type = toMediaType(mime_type);
  const typeByName = VAGUE_TYPES.has(type) ? guessType(filename) : UNKNOWN_TYPE;
  return typeByName === UNKNOWN_TYPE ? type : typeByName;
}

/** Makes a file without bytes; its text follows from its name. */
export const makeFile: Factory<FileObject> = (fields, context) => {
  const { random, world } = context;
  const extension = fields.mime_type ? toExtension(fields.mime_type) : random.pick(EXTENSIONS);
  const organization_id = chooseOrganization(context, fields.organization_id);
  const filename = fields.filename ?? inventFilename(extension, context);
  return {
    id: fields.id ?? context.createId("file_"),
    object: "file",
    filename,
    mime_type: fields.mime_type ?? guessType(filename),
    file_size: fields.file_size ?? random.int(2_000, 900_000),
    organization_id,
    status: "uploaded",
    gcs_path: fields.gcs_path ?? toStoragePath(organization_id, random.characters(20), filename),
    created_at: fields.created_at ?? chooseCreation(context, () => random.int(2 * DAY_MS, 60 * DAY_MS)),
    created_by: fields.created_by ?? context.actor_id ?? findAuthor(world, organization_id),
  };
};

export const filesFixture = createListReader(files, {
  dependsOnSettings: ["locale"],
  entryFormat: createEntryFormat(FileObject, { required: ["id"], omit: ["object", "status", "gcs_path"] }),
  factory: makeFile,
});

const HANDBOOK_TEXTS = [
  "New colleagues spend their first week with a buddy from another team.",
  "Working hours are flexible; everyone is reachable between ten and three.",
  "Each full-time employee has 27 days of paid vacation per year.",
  "Vacation of more than two weeks is agreed with the team lead eight weeks ahead.",
  "Sick leave is reported by nine in the morning; a certificate is needed from the third day on.",
  "Laptops are replaced every three years, or earlier when they break.",
  "The yearly learning budget is 1,500 francs per person and does not carry over.",
  "Remote work from abroad is possible for up to twenty days per year.",
  "Feedback talks take place twice a year, in April and in October.",
];

const POLICY_TEXTS = [
  "Travel in the second class is the rule; flights under four hours are booked in economy.",
  "Expenses are handed in within thirty days, with a receipt for anything over twenty francs.",
  "Passwords are kept in the password manager and never sent by mail or chat.",
  "Customer data stays in the production environment and is never copied to laptops.",
  "Visitors sign in at the reception and are accompanied at all times.",
  "Lost devices are reported to the security team within one hour.",
  "Gifts worth more than fifty francs are declined or handed to the compliance office.",
  "Confidential documents are shredded; the bins on every floor are emptied on Fridays.",
];

const GENERAL_TEXTS = [
  "This document is reviewed once a year; the owner is named on its first page.",
  "Questions go to the team that maintains it, suggestions are welcome at any time.",
  "The robot arm is calibrated every 500 hours of operation.",
  "Spare parts are shipped within two working days from the central warehouse.",
  "Support answers within four hours on working days, around the clock for premium customers.",
  "The warranty covers material and workmanship for 24 months from delivery.",
  "Firmware updates are announced two weeks ahead and can be postponed once.",
  "Batteries are stored between five and twenty-five degrees.",
  "All prices are in Swiss francs, without value added tax.",
  "Training for operators takes two days and ends with a certificate.",
];

/** Returns the passages of a file without bytes, chosen by its name. */
export function getSampleTexts(filename: string): readonly string[] {
  if (/handbook|onboarding|guide/i.test(filename)) return HANDBOOK_TEXTS;
  if (/polic|security|compliance/i.test(filename)) return POLICY_TEXTS;
  return GENERAL_TEXTS;
}
