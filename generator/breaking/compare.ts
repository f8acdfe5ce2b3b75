import type { Against } from './base/against.ts';
import { apiChanges } from './api/api-changes.ts';
import { renamesOf } from './api/renames.ts';
import { settingChanges } from './api/settings.ts';
import { type Change, LEVELS } from './change.ts';
import { bothLists, documentChanges } from './documents/document-changes.ts';
import type { ServedSchema, Side } from './side.ts';

export interface Compared {
  readonly against: Against;
  readonly changes: readonly Change[];
}

/** Changes of the API and of the documents alone: an SDL file has nothing else. */
export function compareSchemas(base: ServedSchema, head: Side, today: string): Change[] {
  const { documents, sources } = head;
  return inOrder([
    ...apiChanges({
      base,
      head,
      documents,
      today,
      // The file does not say whether a list was mandatory.
      mandatory: false,
      renames: renamesOf(sources.schema, base.schema, head.schema),
    }),
    ...documentChanges({ base: { ...base, documents }, head }),
  ]);
}

/** The changes between two projects, without those of the code. */
export function compareSides(base: Side, head: Side, today: string): Change[] {
  const mandatory = base.mandatory && head.mandatory;
  return inOrder([
    ...apiChanges({
      base,
      head,
      mandatory,
      today,
      documents: bothLists(base.documents, head.documents),
      renames: renamesOf(head.sources.schema, base.schema, head.schema),
    }),
    ...settingChanges(base.project, head.project, mandatory),
    ...documentChanges({ base, head }),
  ]);
}

/** The worst first; the rest as it was found. */
export function inOrder(changes: readonly Change[]): Change[] {
  return LEVELS.flatMap((level) => changes.filter((change) => change.level === level));
}
