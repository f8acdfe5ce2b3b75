import { expect, it } from 'vitest';
import { root } from '../source-files.ts';
import { end, run } from './program.ts';

/** Has all garbage collected while nothing waits for its turn, and compares what is made then with what was kept. */
const PROGRAM = `import { executionAsyncResource } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { tick } from '${root}/runtime/core/listener.ts';

setFlagsFromString('--expose-gc');
setFlagsFromString('--allow-natives-syntax');
const collect = runInNewContext('gc');
const haveSameShape = new Function('one', 'other', 'return %HaveSameMap(one, other)');
await setTimeout(10);
collect();
await setTimeout(10);
const kept = await tick;
process.nextTick(() => process.stdout.write('same: ' + haveSameShape(kept, executionAsyncResource()) + ', as any: ' + haveSameShape(kept, {}) + '\\n'));
`;

it('what nextTick makes keeps its shape when everything is collected', async () => {
  const program = run(PROGRAM);
  await program.ended;
  expect(program.output()).toBe('same: true, as any: false\n');
  await end(program);
});
