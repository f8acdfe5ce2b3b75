import {
  column,
  foreignKey,
  index,
  list,
  object,
  ofKind,
  type Shape,
  table,
  text,
} from './migration-shapes.ts';
import type { Table, TableColumn, TableForeignKey, TableIndex } from './tables.ts';

/** One step of a migration, as its file has it. */
export type MigrationStep =
  | { readonly kind: 'createTable' | 'dropTable'; readonly table: Table }
  | { readonly kind: 'renameTable'; readonly from: string; readonly to: string }
  | {
      readonly kind: 'renameColumn';
      readonly table: string;
      readonly from: string;
      readonly to: string;
    }
  | {
      readonly kind: 'alterTable';
      readonly table: string;
      readonly changes: readonly TableChange[];
    }
  /** Gives rows with an old value of an enum its new name. */
  | {
      readonly kind: 'renameValue';
      readonly table: string;
      readonly column: string;
      readonly from: string;
      readonly to: string;
    }
  | {
      readonly kind: 'createIndex' | 'dropIndex';
      readonly table: string;
      readonly index: TableIndex;
    };

/** What an `alterTable` does. A foreign key of one column is part of its column. */
export type TableChange =
  | { readonly kind: 'add'; readonly column: TableColumn }
  | { readonly kind: 'drop'; readonly column: TableColumn }
  | { readonly kind: 'alter'; readonly before: TableColumn; readonly after: TableColumn }
  | { readonly kind: 'addForeignKey' | 'dropForeignKey'; readonly key: TableForeignKey };

type Kind = MigrationStep['kind'];

/** The step of a kind. */
export type StepOf<K extends Kind> = MigrationStep & { readonly kind: K };

/** What is known of a kind of step without a database. */
interface StepKind<Step> {
  readonly inverse: (step: Step) => MigrationStep;
  /** Tables, columns and indexes that it is about, by their new names. */
  readonly objects: (step: Step) => readonly string[];
  /** The name of a migration that begins with it. */
  readonly title: (step: Step) => string;
  /** What a file may say of it. */
  readonly shape: Shape;
}

const WHOLE = object<StepOf<'createTable'>>({ kind: text, table });
const INDEX = object<StepOf<'createIndex'>>({ kind: text, table: text, index });
const COLUMN = object<Extract<TableChange, { kind: 'add' }>>({ kind: text, column });
const KEY = object<Extract<TableChange, { key: unknown }>>({ kind: text, key: foreignKey });

const CHANGES: { readonly [K in TableChange['kind']]: Shape } = {
  add: COLUMN,
  drop: COLUMN,
  alter: object<Extract<TableChange, { kind: 'alter' }>>({
    kind: text,
    before: column,
    after: column,
  }),
  addForeignKey: KEY,
  dropForeignKey: KEY,
};

const KINDS: { readonly [K in Kind]: StepKind<StepOf<K>> } = {
  createTable: {
    inverse: ({ table }) => ({ kind: 'dropTable', table }),
    objects: ({ table }) => [table.name],
    title: ({ table }) => `create_${table.name}`,
    shape: WHOLE,
  },
  dropTable: {
    inverse: ({ table }) => ({ kind: 'createTable', table }),
    objects: ({ table }) => [table.name],
    title: ({ table }) => `drop_${table.name}`,
    shape: WHOLE,
  },
  renameTable: {
    inverse: turned,
    objects: ({ to }) => [to],
    title: ({ from, to }) => `rename_${from}_to_${to}`,
    shape: object<StepOf<'renameTable'>>({ kind: text, from: text, to: text }),
  },
  renameColumn: {
    inverse: turned,
    objects: ({ table, to }) => [`${table}.${to}`],
    title: ({ table, from, to }) => `rename_${table}_${from}_to_${to}`,
    shape: object<StepOf<'renameColumn'>>({ kind: text, table: text, from: text, to: text }),
  },
  renameValue: {
    inverse: turned,
    objects: ({ table, column }) => [`${table}.${column}`],
    title: ({ table, column, from }) => `rename_${table}_${column}_${from}`,
    shape: object<StepOf<'renameValue'>>({
      kind: text,
      table: text,
      column: text,
      from: text,
      to: text,
    }),
  },
  alterTable: {
    inverse: (step) => ({ ...step, changes: step.changes.map(inverseChange).toReversed() }),
    objects: ({ table, changes }) =>
      changes.flatMap((change) => columnsOf(change).map((column) => `${table}.${column}`)),
    title: ({ table, changes: [first] }) => {
      const verb = first?.kind === 'add' || first?.kind === 'drop' ? first.kind : 'change';
      return [verb, table, ...(first ? columnsOf(first) : [])].join('_');
    },
    shape: object<StepOf<'alterTable'>>({
      kind: text,
      table: text,
      changes: list(ofKind(CHANGES)),
    }),
  },
  createIndex: {
    inverse: (step) => ({ ...step, kind: 'dropIndex' }),
    objects: ({ index }) => [index.name],
    title: ({ table }) => `index_${table}`,
    shape: INDEX,
  },
  dropIndex: {
    inverse: (step) => ({ ...step, kind: 'createIndex' }),
    objects: ({ index }) => [index.name],
    title: ({ index }) => `drop_index_${index.name}`,
    shape: INDEX,
  },
};

function turned<Step extends { readonly from: string; readonly to: string }>(step: Step): Step {
  return { ...step, from: step.to, to: step.from };
}

function inverseChange(change: TableChange): TableChange {
  switch (change.kind) {
    case 'alter':
      return { kind: 'alter', before: change.after, after: change.before };
    case 'add':
    case 'drop':
      return { ...change, kind: change.kind === 'add' ? 'drop' : 'add' };
    default:
      return {
        ...change,
        kind: change.kind === 'addForeignKey' ? 'dropForeignKey' : 'addForeignKey',
      };
  }
}

/** The columns that a change is about, by their new definition. */
function columnsOf(change: TableChange): readonly string[] {
  if ('key' in change) return change.key.columns;
  return [change.kind === 'alter' ? change.after.name : change.column.name];
}

/** The facts of a step's kind, for any step. */
const kindOf = (step: MigrationStep): StepKind<MigrationStep> =>
  KINDS[step.kind] as StepKind<MigrationStep>;

/** The steps that undo these, in order. */
export const inverseSteps = (steps: readonly MigrationStep[]): MigrationStep[] =>
  steps.map((step) => kindOf(step).inverse(step)).toReversed();

/** Tables, columns and indexes that a step is about: `posts`, `posts.title`. */
export const objectsOf = (step: MigrationStep): readonly string[] => kindOf(step).objects(step);

/** The name of a migration that begins with a step, without its number. */
export const titleOf = (step: MigrationStep): string => kindOf(step).title(step);

/** The table that a step changes, by the name that it has before. */
export function tableOf(step: MigrationStep): string {
  if ('table' in step) return typeof step.table === 'string' ? step.table : step.table.name;
  return step.from;
}

/** The first thing of a migration's steps that is not as its file may have it. */
export interface Misfit {
  /** The place of the step; null when it is no list of steps. */
  readonly step: number | null;
  readonly what: string;
}

/**
 * What is wrong with the steps of a file, which people edit; null when nothing is.
 *
 * @example
 * misfitIn([{ kind: 'renameTable', from: 'posts' }])?.what // 'steps[0].to is missing'
 */
export function misfitIn(steps: unknown, name = 'steps'): Misfit | null {
  if (!Array.isArray(steps)) return { step: null, what: `${name} must be a list` };
  const shape = ofKind(
    Object.fromEntries(Object.entries(KINDS).map(([kind, each]) => [kind, each.shape])),
  );
  for (const [step, given] of steps.entries()) {
    const what = shape(given, `${name}[${step}]`);
    if (what !== null) return { step, what };
  }
  return null;
}
