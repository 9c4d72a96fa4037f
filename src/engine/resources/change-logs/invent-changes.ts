import type { FactoryContext } from "../../contract/factory.ts";
import { actorAt } from "./actor.ts";
import { SUBJECTS } from "./sample-text.ts";
import { type ChangeLog, RESOURCE_TYPES } from "./schema.ts";

type Type = ChangeLog["resource_type"];
type Action = ChangeLog["action"];

/** Something that the log tells of, as it stands at an instant of the past. */
interface Subject {
  type: Type;
  id: string;
  name: string;
  /** In the bin, or gone for good. */
  deleted: boolean;
  /** Undefined: nothing told so far says. */
  added?: boolean;
  attached?: boolean;
  values: Record<string, string>;
}

/**
 * Going back, what ends something comes before what began it; two are deleted, as one of them is restored.
 * `added` and `removed` speak of a group, `entity_attached` and `entity_detached` of what something is bound to.
 */
const IN_TURN: readonly Action[] = [
  "deleted",
  "entity_detached",
  "entity_attached",
  "removed",
  "added",
  "updated",
  "deleted",
  "restored",
  "created",
];

/** So many entries tell of every kind of change to every type. */
export const EVERY_KIND = IN_TURN.length * RESOURCE_TYPES.length;

interface Wanted {
  context: FactoryContext;
  organization_id: string;
  /** Milliseconds that the entries reach back. */
  span: number;
  count: number;
}

/**
 * Changes to people, assistants, rules and documents that are gone today, newest first: a walk back from the present,
 * in which each step undoes what may have been the latest change (G40).
 */
export function inventChanges({ context, organization_id, span, count }: Wanted): ChangeLog[] {
  const { random, world } = context;
  const subjects = new Subjects(context);
  const gap = span / (count + 1);
  return Array.from({ length: count }, (_, n) => {
    const type = RESOURCE_TYPES[n % RESOURCE_TYPES.length]!;
    const wanted = IN_TURN[Math.floor(n / RESOURCE_TYPES.length)] ?? random.pick(IN_TURN);
    const { subject, action } = subjects.thatMay(type, wanted);
    const timestamp = -Math.floor((n + random.float()) * gap) - 1;
    return {
      id: context.newId("log_"),
      organization_id,
      timestamp,
      resource_type: type,
      resource_id: subject.id,
      resource_name: subject.name,
      action,
      ...actorAt(world, { organization_id, at: timestamp }, random),
      changes: subjects.undo(subject, action),
    };
  });
}

const MAX_TRIES = 8;

class Subjects {
  private readonly context: FactoryContext;
  private readonly present = new Map<Type, Subject[]>(RESOURCE_TYPES.map((type) => [type, []]));
  private serial = 0;

  constructor(context: FactoryContext) {
    this.context = context;
  }

  /** One that can have had such a change; where none is found, one that was deleted comes into view. */
  thatMay(type: Type, action: Action): { subject: Subject; action: Action } {
    const { random } = this.context;
    const list = this.present.get(type)!;
    for (let tries = Math.min(MAX_TRIES, list.length); tries > 0; tries--) {
      const subject = random.pick(list);
      if (CAN_HAVE_BEEN[action](subject)) return { subject, action };
    }
    return { subject: this.invented(type), action: "deleted" };
  }

  undo(subject: Subject, action: Action): ChangeLog["changes"] {
    const { random } = this.context;
    if (action === "updated") {
      const { fields } = SUBJECTS[subject.type];
      const field = random.pick(Object.keys(fields));
      const values = fields[field]!;
      const new_value = subject.values[field] ?? random.pick(values);
      const old_value = random.pick(values.filter((value) => value !== new_value));
      subject.values[field] = old_value;
      return [{ field, old_value, new_value }];
    }
    if (action === "created") {
      const list = this.present.get(subject.type)!;
      list.splice(list.indexOf(subject), 1);
    } else Object.assign(subject, BEFORE[action]);
    return [];
  }

  private invented(type: Type): Subject {
    const { prefix, names } = SUBJECTS[type];
    const name = this.context.random.pick(names);
    const id = `${prefix}${name.toLowerCase().replaceAll(/[^a-z]+/g, "-")}-${++this.serial}`;
    const subject: Subject = { type, id, name, deleted: true, values: {} };
    this.present.get(type)!.push(subject);
    return subject;
  }
}

/** Whether an action may have left something as it is. */
const CAN_HAVE_BEEN: Record<Action, (after: Subject) => boolean> = {
  created: ({ deleted, added, attached }) => !deleted && added !== true && attached !== true,
  updated: ({ deleted }) => !deleted,
  deleted: ({ deleted }) => deleted,
  restored: ({ deleted }) => !deleted,
  added: ({ deleted, added }) => !deleted && added !== false,
  removed: ({ deleted, added }) => !deleted && added !== true,
  entity_attached: ({ deleted, attached }) => !deleted && attached !== false,
  entity_detached: ({ deleted, attached }) => !deleted && attached !== true,
};

/** What undoing each of the others makes of it. */
const BEFORE: Record<Exclude<Action, "created" | "updated">, Partial<Subject>> = {
  deleted: { deleted: false },
  restored: { deleted: true },
  added: { added: false },
  removed: { added: true },
  entity_attached: { attached: false },
  entity_detached: { attached: true },
};
