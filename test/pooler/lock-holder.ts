import { openStore } from '../../runtime/core/store/open-store.ts';

/** Takes a lock, says so, and holds it until it is killed. */
await openStore(process.env['DATABASE_URL']!, '.').lock('held', async () => {
  process.stdout.write('{"held":true}\n');
  setInterval(() => {}, 1000);
  await new Promise(() => {});
});
