import { type IdKind, type MigrationStep, storedColumn, type Table } from '@twofold/schema';
import { code, type Code, file, runtimeType } from './code.ts';
import { literal, type LiteralValue } from './literal.ts';

export interface MigrationFacts {
  readonly ids: IdKind;
  /** Columns whose values may be shortened or lost: `posts.rating`. */
  readonly allowLoss?: readonly string[];
  /** Names of the migrations that it takes the place of. */
  readonly replaces?: readonly string[];
}

/** `migrations/NNNN_name.ts`: written once; users may edit it until it is applied. */
export function renderMigration(
  steps: readonly MigrationStep[],
  { ids, allowLoss = [], replaces = [] }: MigrationFacts,
): string {
  return file(
    '',
    code`
      ${replaces.length > 0 && `export const replaces = ${literal([...replaces]).text};\n`}
      ${allowLoss.length > 0 && `export const allowLoss = ${literal([...allowLoss]).text};\n`}
      ${ids === 'uuid' && `export const ids = 'uuid';\n`}
      export const steps: ${runtimeType('MigrationStep')}[] = ${stepsLiteral(steps)};
    `,
  );
}

/** Steps as data that `readMigration` reads. */
export const stepsLiteral = (steps: readonly MigrationStep[]): Code => literal(steps.map(asData));

/** A step with what the database has of its tables and columns, and nothing else of the model. */
function asData(step: MigrationStep): LiteralValue {
  if (step.kind === 'createTable' || step.kind === 'dropTable')
    return { kind: step.kind, table: tableData(step.table) };
  if (step.kind !== 'alterTable') return data(step);
  const changes = step.changes.map((change) => {
    if (change.kind === 'alter')
      return { ...change, before: storedColumn(change.before), after: storedColumn(change.after) };
    return 'column' in change ? { ...change, column: storedColumn(change.column) } : change;
  });
  return data({ ...step, changes });
}

const tableData = ({ name, columns, primaryKey, foreignKeys, indexes }: Table): LiteralValue =>
  data({ name, columns: columns.map(storedColumn), primaryKey, foreignKeys, indexes });

/** Every member of a step is data. */
const data = (value: object): LiteralValue => value as { readonly [key: string]: LiteralValue };
