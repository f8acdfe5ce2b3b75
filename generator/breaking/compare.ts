import { openapiDocument } from '@twofold/schema';
import { createLocate } from '../migrations/locate.ts';
import { accessChanges } from './access.ts';
import { apiChanges } from './api/api-changes.ts';
import { renamesOf } from './api/renames.ts';
import { settingChanges } from './api/settings.ts';
import { type Change, LEVELS } from './change.ts';
import { dataChanges } from './data-changes.ts';
import { type Comparable, openapiChanges, type RestOptions } from './rest/openapi-changes.ts';
import { bothLists, documentChanges } from './documents/document-changes.ts';
import type { ServedSchema, Side } from './side.ts';

/** The changes of the API and of the documents only, because an SDL file has nothing else. */
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
    ...documentChanges({ base: { ...base, documents, project: head.project }, head }),
  ]);
}

/** The changes between two projects, without those of the code. */
export function compareSides(base: Side, head: Side, today: string): Change[] {
  const mandatory = base.mandatory && head.mandatory;
  const renames = renamesOf(head.sources.schema, base.schema, head.schema);
  return inOrder([
    ...apiChanges({
      base,
      head,
      mandatory,
      today,
      documents: bothLists(base.documents, head.documents),
      renames,
    }),
    ...settingChanges(base.project, head.project, mandatory),
    ...restChanges(base, head, { today, renames }),
    ...documentChanges({ base, head }),
    ...accessChanges(base.project, head.project, renames).map((change) => placed(change, head)),
    ...dataChangesAt(base, head),
  ]);
}

const storedOf = ({ project, sources }: Side) => ({ project, migrations: sources.migrations });

function restChanges(base: Side, head: Side, options: RestOptions): Change[] {
  const document = (side: Side) => openapiDocument(side.project) as unknown as Comparable;
  return openapiChanges(document(base), document(head), options).map((change) => {
    const side = /_(REMOVED|RENAMED)$/.test(change.code) ? base : head;
    return placed({ class: 'rest', ...change }, side);
  });
}

function placed(change: Change, { places }: ServedSchema): Change {
  const at = places(change.coordinate);
  return at ? { ...change, at } : change;
}

function dataChangesAt(base: Side, head: Side): Change[] {
  const locate = createLocate(head.project, head.sources.schema);
  return dataChanges(storedOf(base), storedOf(head)).map((change) => {
    const { file, line, column } = locate(change.coordinate);
    return { ...change, at: { file, line, column } };
  });
}

/** The worst changes come first; changes of one level keep their order. */
export function inOrder(changes: readonly Change[]): Change[] {
  return LEVELS.flatMap((level) => changes.filter((change) => change.level === level));
}
