import { createLog } from '../../runtime/core/config/log.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { type Budget, reserve } from '../../runtime/models/keys/budget.ts';
import { createBudgetStore } from '../../runtime/models/keys/budget-store.ts';

/** A process of its own that reserves parts of one budget and never settles them. */
const { database, folder, budget, requests, tokens } = JSON.parse(process.argv[2] as string) as {
  database: string;
  folder: string;
  budget: Budget;
  requests: number;
  tokens: number;
};
const log = createLog({ level: 'silent' }, { write: () => {} });
const budgets = createBudgetStore(openStore(database, folder), { log, now: Date.now });
process.once('message', async () => {
  const results = await Promise.all(
    Array.from({ length: requests }, (_, index) =>
      budgets.change('key', (before) => {
        const reservation = { id: `${process.pid}-${index}`, tokens, money: tokens * 1000 };
        const { state, refusal } = reserve(before, { budget, reservation, now: Date.now() });
        return { state, result: refusal === null };
      }),
    ),
  );
  process.send?.(results.filter(Boolean).length);
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
