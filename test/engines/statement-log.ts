import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { postgresUrl } from './available.ts';

/** The log of the PostgreSQL that `test/engines/start.ts` started. */
const logFile = (): string => {
  const directory = process.env['TEST_ENGINES_DIR'];
  if (!directory) throw new Error('TEST_ENGINES_DIR is not set: npx node test/engines/start.ts');
  return join(directory, 'postgres', 'postgres.log');
};

/**
 * Lets PostgreSQL write every statement on one database to its own log, for connections from now
 * on. @returns a function that reads the statements since then.
 *
 * @example const statements = await logStatements(url); …; expect(statements()).toContain('select 1');
 */
export async function logStatements(url: string): Promise<() => readonly string[]> {
  const client = new pg.Client(postgresUrl!);
  await client.connect();
  const name = pg.escapeIdentifier(new URL(url).pathname.slice(1));
  await client.query(`alter database ${name} set log_statement = 'all'`);
  await client.end();
  const start = statSync(logFile()).size;
  return () => statementsIn(readFileSync(logFile()).subarray(start).toString());
}

/** An entry begins with the time; the further lines of a statement begin with a tab. */
const statementsIn = (text: string): readonly string[] =>
  [...text.matchAll(/^\d.*? LOG: {2}(?:statement|execute [^:]*): (.*(?:\n\t.*)*)/gm)].map(
    ([, statement]) => statement!.replaceAll('\n\t', '\n'),
  );
