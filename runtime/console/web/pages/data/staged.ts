import { computed, signal } from '@preact/signals';
import { ApiError, call, callWithTag } from '../../call.ts';
import { t } from '../../messages.ts';
import { failureText } from '../../parts/use-call.ts';
import { isSame } from './value.tsx';

export type Row = Readonly<Record<string, unknown>>;

/** Changes of one row that are not saved. */
export interface StagedRow {
  /** The path of its type: `/api/posts`. */
  readonly path: string;
  readonly type: string;
  readonly id: string;
  /** The row as it was shown when it was changed. */
  readonly base: Row;
  /** The version of the row that was changed, for `If-Match`; null until it is read. */
  readonly tag: string | null;
  readonly changes: Row;
  /** Why the server refused to save it. */
  readonly error: string | null;
  /** The row as it is now, if another user has changed it meanwhile. */
  readonly theirs: Row | null;
  /** Whether they have closed the dialog with both versions, which the next save opens again. */
  readonly postponed: boolean;
}

const keyOf = ({ path, id }: Pick<StagedRow, 'path' | 'id'>) => `${path}/${id}`;
const addressOf = ({ path, id }: Pick<StagedRow, 'path' | 'id'>) =>
  `${path}/${encodeURIComponent(id)}`;

/** Every change that is not saved, by path and id. It outlives the page that made it. */
export const staged = signal<ReadonlyMap<string, StagedRow>>(new Map());

/** How many values are changed. */
export const unsaved = computed(() =>
  [...staged.value.values()].reduce((sum, { changes }) => sum + Object.keys(changes).length, 0),
);

export const stagedRow = (path: string, id: string): StagedRow | undefined =>
  staged.value.get(keyOf({ path, id }));

function put(row: StagedRow): void {
  staged.value = new Map(staged.value).set(keyOf(row), row);
}

function drop(row: Pick<StagedRow, 'path' | 'id'>): void {
  const next = new Map(staged.value);
  next.delete(keyOf(row));
  staged.value = next;
}

/** A row of a type as it is shown. */
export interface ShownRow {
  readonly path: string;
  readonly type: string;
  readonly row: Row;
}

/** Notes a new value of a field. The version of the row is read at its first change. */
export function stage({ path, type, row: base }: ShownRow, field: string, value: unknown): void {
  const id = String(base['id']);
  const known = stagedRow(path, id);
  const changes = { ...known?.changes, [field]: value };
  if (isSame(value, (known?.base ?? base)[field])) delete changes[field];
  if (Object.keys(changes).length === 0) return drop({ path, id });
  if (known) return put({ ...known, changes, error: null });
  const made = { path, type, id, base, tag: null, changes, error: null };
  const row = { ...made, theirs: null, postponed: false };
  put(row);
  void readTag(row).catch(() => null);
}

/**
 * Reads the version of a row. If the row has changed since it was shown, both versions are shown
 * before anything is saved.
 */
async function readTag(row: StagedRow): Promise<StagedRow> {
  const { data, tag } = await callWithTag(addressOf(row));
  const now = stagedRow(row.path, row.id) ?? row;
  const read = isAsShown(now, data as Row)
    ? { ...now, tag }
    : { ...now, tag, theirs: data as Row, error: null };
  if (stagedRow(row.path, row.id)) put(read);
  return read;
}

const isAsShown = ({ base, changes }: StagedRow, data: Row): boolean =>
  Object.keys(changes).every((field) => isSame(base[field], data[field]));

export function discardChanges(): void {
  staged.value = new Map();
}

/**
 * Saves the rows one by one. A row that the server refuses stays staged, with its error.
 *
 * @param saved is given each row as the server returned it
 */
export async function saveChanges(saved: (path: string, row: Row) => void): Promise<void> {
  for (const row of staged.value.values())
    if (row.theirs === null) await save(row, saved);
    else put({ ...row, postponed: false, error: null });
}

async function save(given: StagedRow, saved: (path: string, row: Row) => void): Promise<void> {
  try {
    const row = given.tag === null ? await readTag(given) : given;
    if (row.theirs !== null) return;
    const headers = row.tag === null ? {} : { 'If-Match': row.tag };
    const answer = await call<Row>('PATCH', addressOf(row), row.changes, { headers });
    keepLater(row);
    saved(row.path, answer);
  } catch (error) {
    await refused(stagedRow(given.path, given.id) ?? given, error);
  }
}

/** Keeps values that were changed again while the row was being saved. */
function keepLater(sent: StagedRow): void {
  const now = stagedRow(sent.path, sent.id);
  const later = Object.entries(now?.changes ?? {}).filter(
    ([field, value]) => !(field in sent.changes && isSame(value, sent.changes[field])),
  );
  drop(sent);
  if (now && later.length > 0)
    put({
      ...now,
      base: { ...now.base, ...sent.changes },
      changes: Object.fromEntries(later),
      tag: null,
    });
}

async function refused(row: StagedRow, error: unknown): Promise<void> {
  if (!(error instanceof ApiError && error.status === 412))
    return put({ ...row, error: failureText(error) });
  try {
    const { data, tag } = await callWithTag(addressOf(row));
    put({ ...row, error: null, theirs: data as Row, tag });
  } catch (gone) {
    put({ ...row, error: failureText(gone) });
  }
}

/** Saves the changes over those of another user, whose version has been shown. */
export async function keepMine(
  row: StagedRow,
  saved: (path: string, row: Row) => void,
): Promise<void> {
  const mine = { ...row, base: row.theirs ?? row.base, theirs: null };
  put(mine);
  await save(mine, saved);
}

/** Keeps the row staged, and asks again at the next save which version is kept. */
export function decideLater(row: StagedRow): void {
  const error = t('It was changed since you read it. Save changes asks which version to keep.');
  put({ ...row, postponed: true, error });
}

export function takeTheirs(row: StagedRow): void {
  drop(row);
}

/** Drops the staged changes of rows that were deleted. */
export function dropRows(path: string, ids: Iterable<string>): void {
  for (const id of ids) drop({ path, id });
}
