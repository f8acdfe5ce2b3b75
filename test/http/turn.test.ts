import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTurn } from '../../runtime/core/http/turn.ts';

describe('the requests of a turn', () => {
  it('are answered when all have been read, in their order and at once', async () => {
    const seen: string[] = [];
    const arrive = createTurn((work) => {
      seen.push('begin');
      work();
      seen.push('end');
    });
    for (const name of ['one', 'two']) {
      const later = arrive();
      seen.push(`read ${name}`);
      later(() => {
        seen.push(name);
        if (name === 'one') arrive()(() => seen.push('of the next turn'));
      });
    }
    await nextTurn();
    await nextTurn();
    expect(seen).toEqual([
      'read one',
      'read two',
      'begin',
      'one',
      'two',
      'end',
      'begin',
      'of the next turn',
      'end',
    ]);
  });

  it('find what was stored for them where they arrived', async () => {
    const storage = new AsyncLocalStorage<string>();
    const arrive = createTurn();
    const seen: unknown[] = [];
    const laters = ['one', 'two'].map((name) => storage.run(name, arrive));
    for (const later of laters) {
      later(() => {
        seen.push(storage.getStore());
        storage.enterWith('left behind');
      });
    }
    await nextTurn();
    expect(seen).toEqual(['one', 'two']);
  });

  it('are answered though one before them throws', async () => {
    const thrown: unknown[] = [];
    const arrive = createTurn((work) => {
      try {
        work();
      } catch (error) {
        thrown.push(error);
      }
    });
    const seen: number[] = [];
    const error = new RangeError('the second');
    for (const number of [1, 2, 3]) {
      arrive()(() => {
        if (number === 2) throw error;
        seen.push(number);
      });
    }
    await nextTurn();
    await nextTurn();
    expect(thrown).toEqual([error]);
    expect(seen).toEqual([1, 3]);
  });
});
