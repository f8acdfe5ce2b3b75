import { describe } from 'vitest';
import { describeWith } from '../engines/available.ts';
import type { DatabaseName } from './server.ts';

export * from './server.ts';

/** The same suite on both databases. */
export function describeEachDatabase(name: string, body: (database: DatabaseName) => void): void {
  describe(`${name} on SQLite`, () => body('SQLite'));
  describeWith('postgres', `${name} on PostgreSQL`, () => body('PostgreSQL'));
}
