import {
  type OnDelete,
  remembered,
  type TableColumn,
  type TableForeignKey,
  type TableIndex,
} from '@twofold/schema';
import { describe, readColumn, readDefault, readType, textOf } from './columns.ts';
import type { Chain, Expression, ChainLink } from './expression.ts';

/** The change that a statement of a migration makes to the tables. */
export type ReadStep =
  | {
      readonly kind: 'createTable';
      readonly table: string;
      readonly columns: readonly TableColumn[];
      readonly primaryKey: readonly string[];
      readonly foreignKeys: readonly TableForeignKey[];
    }
  | { readonly kind: 'dropTable'; readonly table: string }
  | { readonly kind: 'renameTable'; readonly table: string; readonly to: string }
  | {
      readonly kind: 'renameColumn';
      readonly table: string;
      readonly from: string;
      readonly to: string;
    }
  | {
      readonly kind: 'addColumn' | 'setColumn';
      readonly table: string;
      readonly column: TableColumn;
    }
  /** A change of a column's definition, by Kysely's own `alterColumn`. */
  | {
      readonly kind: 'editColumn';
      readonly table: string;
      readonly name: string;
      readonly links: readonly ChainLink[];
    }
  | { readonly kind: 'dropColumn'; readonly table: string; readonly name: string }
  | { readonly kind: 'addForeignKey'; readonly table: string; readonly key: TableForeignKey }
  | { readonly kind: 'dropForeignKey'; readonly table: string; readonly columns: readonly string[] }
  | { readonly kind: 'createIndex'; readonly table: string; readonly index: TableIndex }
  | { readonly kind: 'dropIndex'; readonly name: string };

/**
 * The steps of a chain of calls; null when it may change tables in a way that cannot be read. They
 * are kept, because a run under `dev` folds the same migrations several times.
 */
export const stepsOf = remembered(readSteps);

function readSteps(chain: Chain): readonly ReadStep[] | null {
  if (chain.root === 'alterTable') return alterSteps(chain.links);
  if (chain.root === 'createFoldedIndex') return foldedSteps(chain.links);
  if (chain.root === 'createSearchIndex') return searchSteps(chain.links);
  if (chain.root === 'dropSearchIndex') return dropSearchSteps(chain.links);
  if (chain.links[0]?.name === 'schema' && chain.links[0].args === null)
    return schemaSteps(chain.links.slice(1));
  return changesTables(textsIn(chain)) ? null : [];
}

/** Whether SQL creates, changes or drops a table or its columns. */
export function changesTables(text: string): boolean {
  return /\b(create|alter|drop)\s+(temporary\s+)?table\b|\b(createTable|dropTable|alterTable|addColumn|dropColumn|renameTo|renameColumn)\b/i.test(
    text,
  );
}

/** `alterTable(db, 'posts').addColumn(…).execute()`, a function of the runtime. */
function alterSteps([call, ...links]: readonly ChainLink[]): ReadStep[] | null {
  const table = textOf(call?.args?.[1]);
  if (table === null) return null;
  return all(links.map((link) => (link.name === 'execute' ? [] : alterStep(table, link, true))));
}

function alterStep(table: string, { name, args }: ChainLink, ours: boolean): ReadStep[] | null {
  const list = args ?? [];
  if (ours && name.endsWith('ForeignKey')) return foreignKeyStep(table, name, list);
  const first = textOf(list[0]);
  if (first === null) return null;
  if (name === 'dropColumn') return [{ kind: 'dropColumn', table, name: first }];
  if (name === 'renameColumn') {
    const to = textOf(list[1]);
    return to === null ? null : [{ kind: 'renameColumn', table, from: first, to }];
  }
  if (name === 'alterColumn' && !ours) return editStep(table, first, list[1]);
  if (name !== 'addColumn' && name !== 'alterColumn') return null;
  const read = readColumn(list);
  if (!read) return null;
  return [{ kind: name === 'addColumn' ? 'addColumn' : 'setColumn', table, column: read.column }];
}

/**
 * `.addForeignKey(['country', 'code'], { table: 'regions', references: […], onDelete: 'restrict'
 * })`
 */
function foreignKeyStep(
  table: string,
  name: string,
  [own, given]: readonly Expression[],
): ReadStep[] | null {
  const columns = textsOf(own);
  if (name === 'dropForeignKey') return [{ kind: 'dropForeignKey', table, columns }];
  const members = given?.kind === 'object' ? given.members : undefined;
  const other = textOf(members?.get('table'));
  if (name !== 'addForeignKey' || other === null) return null;
  const key = {
    columns,
    table: other,
    references: textsOf(members?.get('references')),
    onDelete: onDeleteOf(members?.get('onDelete')),
  };
  return [{ kind: 'addForeignKey', table, key }];
}

const textsOf = (list: Expression | undefined): string[] =>
  list?.kind === 'list' ? list.items.flatMap((item) => textOf(item) ?? []) : [];

const onDeleteOf = (action: Expression | undefined): OnDelete =>
  (textOf(action) ?? 'restrict') as OnDelete;

/**
 * `.addForeignKeyConstraint('name', ['a', 'b'], 'other', ['a', 'b'], (key) =>
 * key.onDelete('cascade'))`
 */
function constraintOf({ name, args }: ChainLink): TableForeignKey[] {
  if (name !== 'addForeignKeyConstraint') return [];
  const [, own, other, referred, build] = args ?? [];
  const columns = textsOf(own);
  const table = textOf(other);
  // The foreign key of a single column is written with the column.
  if (columns.length < 2 || table === null) return [];
  const links = build?.kind === 'function' ? build.body.links : [];
  const action = links.find((link) => link.name === 'onDelete')?.args?.[0];
  return [{ columns, table, references: textsOf(referred), onDelete: onDeleteOf(action) }];
}

function editStep(table: string, name: string, build: Expression | undefined): ReadStep[] | null {
  return build?.kind === 'function'
    ? [{ kind: 'editColumn', table, name, links: build.body.links }]
    : null;
}

/** The column after one call of Kysely's `alterColumn`. */
export function editColumn(column: TableColumn, { name, args }: ChainLink): TableColumn {
  const [first] = args ?? [];
  if (name === 'setNotNull') return { ...column, required: true };
  if (name === 'dropNotNull') return { ...column, required: false };
  if (name === 'setDefault') return { ...column, ...readDefault(first) };
  if (name === 'setDataType')
    return { ...column, type: (first && readType(first)?.type) ?? column.type };
  if (name !== 'dropDefault') return describe(column, { name, args });
  const { default: _default, ...rest } = column;
  return rest;
}

/** `db.schema.createTable('posts')…` */
function schemaSteps([call, ...links]: readonly ChainLink[]): ReadStep[] | null {
  const name = textOf(call?.args?.[0]);
  if (!call || name === null) return null;
  switch (call.name) {
    case 'createTable':
      return createSteps(name, links);
    case 'dropTable':
      return [{ kind: 'dropTable', table: name }];
    case 'createIndex':
      return indexSteps(name, links);
    case 'dropIndex':
      return [{ kind: 'dropIndex', name }];
    case 'alterTable':
      return kyselySteps(name, links);
    default:
      return [];
  }
}

function createSteps(table: string, links: readonly ChainLink[]): ReadStep[] | null {
  const columns = links
    .filter(({ name }) => name === 'addColumn')
    .map(({ args }) => readColumn(args ?? []));
  if (columns.some((column) => column === null)) return null;
  const composite = links.find(({ name }) => name === 'addPrimaryKeyConstraint')?.args?.[1];
  const key =
    composite?.kind === 'list'
      ? composite.items.flatMap((item) => textOf(item) ?? [])
      : columns.flatMap((each) => (each!.key ? [each!.column.name] : []));
  return [
    {
      kind: 'createTable',
      table,
      columns: columns.map((each) => each!.column),
      primaryKey: key,
      foreignKeys: links.flatMap(constraintOf),
    },
  ];
}

function indexSteps(name: string, links: readonly ChainLink[]): ReadStep[] | null {
  const argument = (method: string) => links.find((link) => link.name === method)?.args?.[0];
  const table = textOf(argument('on'));
  const list = argument('columns');
  const single = textOf(argument('column'));
  const columns = list?.kind === 'list' ? list.items.flatMap((item) => textOf(item) ?? []) : [];
  // The model has no indexes over expressions.
  if (table === null || (single === null && columns.length === 0)) return [];
  const unique = links.some((link) => link.name === 'unique');
  return [
    {
      kind: 'createIndex',
      table,
      index: { name, columns: single === null ? columns : [single], unique },
    },
  ];
}

/** `createFoldedIndex(db, { name, table, column, fold })`, a function of the runtime. */
function foldedSteps([call]: readonly ChainLink[]): ReadStep[] | null {
  const given = call?.args?.[1];
  const text = (name: string) =>
    given?.kind === 'object' ? textOf(given.members.get(name)) : null;
  const [name, table, column, fold] = ['name', 'table', 'column', 'fold'].map(text);
  if (!name || !table || !column || (fold !== 'letters' && fold !== 'digits')) return null;
  return [{ kind: 'createIndex', table, index: { name, columns: [column], unique: true, fold } }];
}

/** `createSearchIndex(db, { name, table, key, columns, language })`, a function of the runtime. */
function searchSteps([call]: readonly ChainLink[]): ReadStep[] | null {
  const given = membersOf(call);
  const text = (name: string) => textOf(given?.get(name));
  const list = (name: string) => {
    const each = given?.get(name);
    return each?.kind === 'list' ? each.items.flatMap((item) => textOf(item) ?? []) : [];
  };
  const [name, table, language] = ['name', 'table', 'language'].map(text);
  const [columns, key] = [list('columns'), list('key')];
  if (!name || !table || !language || columns.length === 0 || key.length === 0) return null;
  const index = { name, columns, unique: false, search: { language, key } };
  return [{ kind: 'createIndex', table, index }];
}

function dropSearchSteps([call]: readonly ChainLink[]): ReadStep[] | null {
  const name = textOf(membersOf(call)?.get('name'));
  return name ? [{ kind: 'dropIndex', name }] : null;
}

function membersOf(call: ChainLink | undefined) {
  const given = call?.args?.[1];
  return given?.kind === 'object' ? given.members : undefined;
}

function kyselySteps(table: string, links: readonly ChainLink[]): ReadStep[] | null {
  return all(
    links.map((link) => {
      if (link.name === 'renameTo') {
        const to = textOf(link.args?.[0]);
        return to === null ? null : [{ kind: 'renameTable', table, to } as const];
      }
      const keys = constraintOf(link);
      if (keys.length > 0)
        return keys.map((key) => ({ kind: 'addForeignKey', table, key }) as const);
      const known = ['addColumn', 'dropColumn', 'renameColumn', 'alterColumn'];
      return known.includes(link.name) ? alterStep(table, link, false) : [];
    }),
  );
}

function all(lists: readonly (readonly ReadStep[] | null)[]): ReadStep[] | null {
  return lists.includes(null) ? null : lists.flatMap((list) => list ?? []);
}

/** Every string in a chain: the SQL of templates, and names of tables. */
function textsIn(chain: Chain): string {
  const texts: string[] = [];
  const visit = (each: Expression): void => {
    if (each.kind === 'value') texts.push(String(each.value));
    if (each.kind === 'template') texts.push(each.text);
    if (each.kind === 'list') each.items.forEach(visit);
    if (each.kind === 'object') each.members.forEach(visit);
    if (each.kind === 'function') visit(each.body);
    if (each.kind === 'chain') {
      texts.push(each.root);
      each.links.forEach((link) => (texts.push(link.name), link.args?.forEach(visit)));
    }
  };
  visit(chain);
  return texts.join(' ');
}
