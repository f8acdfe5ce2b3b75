import { stripTypeScriptTypes } from 'node:module';
import { sql } from 'kysely';
import { alterTable } from '../../../runtime/core/store/tables/alter-table.ts';
import { columnTypes } from '../../../runtime/core/store/tables/column-types.ts';
import type { Migration } from '../../../runtime/core/store/migrations/migration.ts';

/** What a rendered migration exports. Its only imports are words of the runtime. */
export function evaluateMigration(text: string): Required<Pick<Migration, 'up' | 'down'>> {
  const script = stripTypeScriptTypes(text)
    .replace(/^import .*$/gm, '')
    .replace(/^export async function (\w+)/gm, 'out.$1 = async function');
  const out = {} as Required<Pick<Migration, 'up' | 'down'>>;
  new Function('out', 'sql', 'alterTable', 'columnTypes', script)(
    out,
    sql,
    alterTable,
    columnTypes,
  );
  return out;
}
