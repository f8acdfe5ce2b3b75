import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createLongStatements,
  type LongStatements,
} from '../../runtime/core/store/postgres/long-statements.ts';

/** A statement that has begun and not ended. */
interface Begun {
  readonly text: string;
  end(): void;
}

describe('long statements', () => {
  let long: LongStatements;
  let begun: Begun[];
  let now: number;

  beforeEach(() => {
    long = createLongStatements({ slow: 1, quick: 2 });
    begun = [];
    now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
  });

  afterEach(() => void vi.restoreAllMocks());

  const ask = (text: string) =>
    long.run(text, () => new Promise<void>((end) => void begun.push({ text, end })));

  /** Runs a statement alone. */
  async function took(text: string, milliseconds: number): Promise<void> {
    const asked = ask(text);
    await settled();
    now += milliseconds;
    begun.pop()?.end();
    await asked;
  }

  const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));

  const running = () => begun.map(({ text }) => text);

  it('wait for each other until they were seen to be quick', async () => {
    void [ask('a'), ask('a'), ask('b')];
    await settled();
    expect(running()).toEqual(['a']);
    expect(long.waiting).toBe(2);
  });

  it('that were quick do not wait for slow ones, and leave places for others as well', async () => {
    await took('quick', 19);
    await took('slow', 20);
    void [ask('slow'), ask('slow'), ask('quick'), ask('quick'), ask('quick')];
    await settled();
    expect(running()).toEqual(['slow', 'quick', 'quick']);
    expect(long.waiting).toBe(2);
  });

  it('that were quick and then slow wait as the others do', async () => {
    await took('a', 1);
    await took('a', 1000);
    void [ask('a'), ask('a')];
    await settled();
    expect(running()).toEqual(['a']);
  });

  it('that fail give their place back', async () => {
    await expect(long.run('a', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    void ask('a');
    await settled();
    expect(running()).toEqual(['a']);
    expect(long.waiting).toBe(0);
  });
});
