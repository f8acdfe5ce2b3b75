import type { MigrationStep, Table, TableChange, TableForeignKey } from '@twofold/schema';

/** The steps that make the foreign keys of several columns those of the wanted tables. */
export interface ForeignKeySteps {
  /** Run first: a column of a foreign key cannot be dropped. */
  readonly drop: readonly MigrationStep[];
  /** These run last, because the columns that a foreign key refers to must exist and be unique. */
  readonly add: readonly MigrationStep[];
}

/** New names of columns, by the new name of their table. */
export type ColumnRenames = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * Compares the foreign keys of several columns of tables that stay. One that is not wanted is
 * dropped without a question, as no value is lost by it.
 *
 * @param before under the new names of tables
 */
export function foreignKeySteps(
  before: ReadonlyMap<string, Table>,
  wanted: readonly Table[],
  renames: ColumnRenames,
): ForeignKeySteps {
  const drop: MigrationStep[] = [];
  const add: MigrationStep[] = [];
  for (const { name, foreignKeys = [] } of wanted) {
    const old = before.get(name);
    if (!old) continue;
    const known = (old.foreignKeys ?? []).map((key) => ({
      key,
      text: textOf(renamed(key, name, renames)),
    }));
    const gone = known.filter(({ text }) => !foreignKeys.some((key) => textOf(key) === text));
    const fresh = foreignKeys.filter((key) => !known.some(({ text }) => text === textOf(key)));
    const step = (
      kind: TableChange['kind'] & `${string}Key`,
      key: TableForeignKey,
    ): MigrationStep => ({
      kind: 'alterTable',
      table: name,
      changes: [{ kind, key }],
    });
    drop.push(...gone.map(({ key }) => step('dropForeignKey', key)));
    add.push(...fresh.map((key) => step('addForeignKey', key)));
  }
  return { drop, add };
}

const textOf = ({ columns, table, references, onDelete }: TableForeignKey): string =>
  JSON.stringify([columns, table, references, onDelete]);

/** The key after the renames, because databases rename columns in foreign keys, too. */
function renamed(key: TableForeignKey, of: string, renames: ColumnRenames): TableForeignKey {
  const within = (table: string, columns: readonly string[]) =>
    columns.map((column) => renames.get(table)?.get(column) ?? column);
  return {
    ...key,
    columns: within(of, key.columns),
    references: within(key.table, key.references),
  };
}
