import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { everything, init, longer, settings } from './large-table.ts';

/** Migrates the database and kills its own process after so many parts: node FILE URL PARTS */
const [, , url = '', parts = '1'] = process.argv;
let made = 0;
await migrate(openStore(url, '.'), [init, everything, longer], {
  settings,
  onPrepared: () => {
    made += 1;
    if (made === Number(parts)) process.kill(process.pid, 'SIGKILL');
  },
});
