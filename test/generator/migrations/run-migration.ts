import { readMigration } from '../../../generator/migrations/read-migration.ts';
import {
  type MigrationModule,
  runnable,
} from '../../../runtime/database/migrations/load-migrations.ts';
import type { Migration } from '../../../runtime/core/store/migrations/migration.ts';

/** What a migration with steps does; one with code has to be imported. */
export function evaluateMigration(text: string): Required<Pick<Migration, 'up' | 'down'>> {
  const { steps, ids } = readMigration(text);
  const module: MigrationModule = { steps, ids };
  return runnable(module) as Required<Pick<Migration, 'up' | 'down'>>;
}
