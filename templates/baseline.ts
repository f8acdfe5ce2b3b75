import type { Table } from '@twofold/schema';
import { code, file, join, raw, runtime, runtimeType } from './code.ts';
import { str } from './literal.ts';
import { stepsLiteral } from './migration.ts';

/**
 * `migrations/0000_baseline.ts`: the statements that make a database which another program made,
 * and the schema's description of its tables.
 */
export function renderBaseline(statements: readonly string[], tables: readonly Table[]): string {
  const lines = (texts: readonly string[]) => join(texts.map((text) => raw(`${text},`)));
  return file(
    '',
    code`
      /** What the schema says of these tables. The next migration is the difference to it. */
      export const leaves: ${runtimeType('MigrationStep')}[] = ${stepsLiteral(tables.map((table) => ({ kind: 'createTable', table })))};

      const statements = [
        ${lines(statements.map(sqlText))}
      ];

      /** Makes everything in an empty database. Where all of it is there, it is only recorded. */
      export async function up(db: ${runtimeType('Kysely')}<any>): Promise<void> {
        for (const statement of statements) await ${runtime('sql')}.raw(statement).execute(db);
      }
    `,
  );
}

/** The SQL as a string. A text of several lines keeps its lines. */
const sqlText = (text: string): string =>
  text.includes('\n') ? `\`${text.replace(/[\\`]|\$\{/g, (part) => `\\${part}`)}\`` : str(text);
