import { readFileSync } from 'node:fs';
import { migrate } from '../../../runtime/database/migrations/migrate.ts';
import { openStore } from '../../../runtime/core/store/open-store.ts';
import { evaluateMigration } from './run-migration.ts';
import { SETTINGS } from './random-migrations.ts';

/**
 * Applies migrations and kills its own process after so many statements: node FILE URL MIGRATIONS
 * STATEMENTS
 */
const [, , url = '', file = '', statements = '1'] = process.argv;
const texts = JSON.parse(readFileSync(file, 'utf8')) as {
  name: string;
  text: string;
  allowLoss: string[];
}[];
let seen = 0;
const note = () => {
  seen += 1;
  if (seen >= Number(statements)) process.kill(process.pid, 'SIGKILL');
};
const store = openStore(url, '.', { note });
const migrations = texts.map((each) => ({ ...each, ...evaluateMigration(each.text) }));
await migrate(store, migrations, { settings: SETTINGS });
await store.close();
