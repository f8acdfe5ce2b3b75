import { base, query } from '../../address.ts';
import type { Column, Module, KeyOf } from '../../rest-modules.ts';
import type { Row } from './staged.ts';
import { signal } from '@preact/signals';

/** Parameters of the address that are the console's own. The others go to the API. */
const OWN = new Set(['row', 'locale', 'as']);

/** Parameters that the grid sets itself. */
const SET = new Set([...OWN, 'page', 'limit', 'fields', 'include']);

/** Whether every row is shown, past the rules of the schema. */
export const isAdmin = (): boolean => query.value.get('as') === 'admin';

/** The address of a type's rows, or of the present view with other parameters. */
export function typeAddress(
  plural: string,
  parameters: Readonly<Record<string, string>> = {},
): string {
  const search = new URLSearchParams(parameters);
  if (isAdmin()) search.set('as', 'admin');
  const locale = query.value.get('locale');
  if (locale !== null) search.set('locale', locale);
  return `${base}/data/${plural}${search.size > 0 ? `?${search}` : ''}`;
}

/** The address of the present view with a row opened beside it. */
export function rowAddress(id: string): string {
  const search = new URLSearchParams(query.value);
  search.set('row', id);
  return `?${search}`;
}

/** Filters, sorting and search of the address, as the API takes them. */
export function filterParameters(): URLSearchParams {
  return new URLSearchParams([...query.value].filter(([name]) => !SET.has(name)));
}

/** The columns that are shown, in their order: those of `fields`, or all. */
export function shownColumns(module: Module, fields: string | null): readonly Column[] {
  if (fields === null) return module.columns;
  const named = fields.split(',');
  const found = named.flatMap((name) => module.columns.find((each) => each.name === name) ?? []);
  return found.length > 0 ? found : module.columns;
}

const LABELS = ['name', 'title', 'label', 'subject', 'email', 'username', 'slug', 'code'];

/** The column that serves as the label of a row. */
export function labelOf({ columns }: Module): string | null {
  const texts = columns.filter(
    ({ kind, keyOf, name }) => kind === 'text' && !keyOf && name !== 'id',
  );
  return LABELS.find((name) => texts.some((each) => each.name === name)) ?? texts[0]?.name ?? null;
}

/**
 * The parameters of a page of rows: filters and sorting of the address, and the labels of the rows
 * that the columns refer to. Columns are not named: one that the caller may not read would then be
 * refused, and with it the page.
 */
export function pageParameters(
  columns: readonly Column[],
  modules: readonly Module[],
): URLSearchParams {
  const parameters = filterParameters();
  const fields: string[] = [];
  const include: string[] = [];
  for (const { keyOf } of columns) {
    const target = keyOf && modules.find(({ type }) => type === keyOf.type);
    const label = target ? labelOf(target) : null;
    if (!keyOf || label === null) continue;
    include.push(keyOf.field);
    fields.push(`${keyOf.field}.${label}`);
  }
  if (include.length === 0) return parameters;
  parameters.set('include', [...new Set(include)].join(','));
  parameters.set('fields', [...new Set(fields)].join(','));
  return parameters;
}

/**
 * The parameters of an export: filters, sorting and the columns that are shown, without those that
 * the caller may not read.
 */
export function exportParameters(
  columns: readonly Column[],
  row: Row | undefined,
): URLSearchParams {
  const parameters = filterParameters();
  const readable = columns.filter(({ name }) => row === undefined || name in row);
  if (query.value.has('fields'))
    parameters.set('fields', readable.map(({ name }) => name).join(','));
  return parameters;
}

/** The types of the page, in which related rows are looked up. */
export const modules = signal<readonly Module[]>([]);

export const moduleOf = (type: string): Module | undefined =>
  modules.value.find((each) => each.type === type);

/** The address of a related row; null when its type has no rows of its own. */
export function relatedAddress({ type }: KeyOf, id: string): string | null {
  const module = moduleOf(type);
  return module?.readable ? typeAddress(module.plural, { row: id }) : null;
}

/** The label of a related row, when the answer contains it. */
export function labelOfKey({ field, type }: KeyOf, row: Row): string | null {
  const module = moduleOf(type);
  const related = row[field] as Row | null | undefined;
  const name = module ? labelOf(module) : null;
  const label = name === null ? null : related?.[name];
  return label === null || label === undefined || label === '' ? null : String(label);
}
