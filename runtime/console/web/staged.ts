import { computed, signal } from '@preact/signals';
import { ApiError, call, callWithTag } from './call.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Changes of one row that are not saved. */
export interface StagedRow {
  readonly plural: string;
  readonly id: string;
  /** The version of the row that was changed, for `If-Match`. */
  readonly tag: string | null;
  readonly changes: Row;
  /** Why the server refused to save it. */
  readonly error: string | null;
  /** The row as it is now, when somebody else has changed it meanwhile. */
  readonly theirs: Row | null;
}

const keyOf = (plural: string, id: string) => `${plural}/${id}`;

/** Every change that is not saved, by type and id. It outlives the page that made it. */
export const staged = signal<ReadonlyMap<string, StagedRow>>(new Map());

/** How many values are changed. */
export const unsaved = computed(() =>
  [...staged.value.values()].reduce((sum, { changes }) => sum + Object.keys(changes).length, 0),
);

export const stagedRow = (plural: string, id: string): StagedRow | undefined =>
  staged.value.get(keyOf(plural, id));

function put(row: StagedRow): void {
  staged.value = new Map(staged.value).set(keyOf(row.plural, row.id), row);
}

function drop({ plural, id }: Pick<StagedRow, 'plural' | 'id'>): void {
  const next = new Map(staged.value);
  next.delete(keyOf(plural, id));
  staged.value = next;
}

/** Notes a new value of a field. The version of the row is read at its first change. */
export async function stage(
  plural: string,
  id: string,
  field: string,
  value: unknown,
): Promise<void> {
  const known = stagedRow(plural, id);
  if (known) return put({ ...known, changes: { ...known.changes, [field]: value }, error: null });
  put({ plural, id, tag: null, changes: { [field]: value }, error: null, theirs: null });
  const { tag } = await callWithTag(`/api/${plural}/${encodeURIComponent(id)}`);
  const now = stagedRow(plural, id);
  if (now) put({ ...now, tag });
}

export function discardChanges(): void {
  staged.value = new Map();
}

/** Saves each row by itself. A row that is refused stays, with its error; the others are saved. */
export async function saveChanges(): Promise<void> {
  for (const row of staged.value.values()) await save(row);
}

async function save(row: StagedRow): Promise<void> {
  const path = `/api/${row.plural}/${encodeURIComponent(row.id)}`;
  try {
    await call('PATCH', path, row.changes, { headers: row.tag ? { 'If-Match': row.tag } : {} });
    drop(row);
  } catch (error) {
    if (!(error instanceof ApiError)) return put({ ...row, error: String(error) });
    if (error.status !== 412) return put({ ...row, error: error.error });
    const { data, tag } = await callWithTag(path);
    put({ ...row, error: 'Changed meanwhile', theirs: data as Row, tag });
  }
}

/** Saves the changes over those of somebody else, whose version has been shown. */
export async function keepMine(row: StagedRow): Promise<void> {
  await save({ ...row, theirs: null });
}

export function takeTheirs(row: StagedRow): void {
  drop(row);
}

addEventListener('beforeunload', (event) => {
  if (unsaved.value > 0) event.preventDefault();
});
