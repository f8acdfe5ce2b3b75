import { describe, expect, it } from 'vitest';
import { createBoundedCache } from '../../runtime/core/store/bounded-cache.ts';

describe('a bounded cache', () => {
  it('forgets what was used longest ago', () => {
    const cache = createBoundedCache<string>({ entries: 3, bytes: 1000 });
    for (const key of ['a', 'b', 'c']) cache.set(key, key.toUpperCase(), 1);
    expect(cache.get('a')).toBe('A');
    cache.set('d', 'D', 1);
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key))).toEqual(['A', undefined, 'C', 'D']);
    expect([cache.size, cache.held]).toEqual([3, 3]);
  });

  it('is bounded by bytes as well as by number, and always keeps the newest', () => {
    const cache = createBoundedCache<number>({ entries: 100, bytes: 50 });
    for (let index = 0; index < 10; index += 1) cache.set(`k${index}`, index, 20);
    expect([cache.size, cache.held]).toEqual([2, 40]);
    cache.set('huge', 1, 500);
    expect([cache.size, cache.held, cache.get('huge'), cache.get('k9')]).toEqual([
      1,
      500,
      1,
      undefined,
    ]);
  });

  it('counts what grows later, if it is still what it was', () => {
    const cache = createBoundedCache<object>({ entries: 100, bytes: 50 });
    const [first, second] = [{}, {}];
    cache.set('a', first, 10);
    cache.set('b', second, 10);
    cache.grow('b', first, 1000);
    expect(cache.held).toBe(20);
    cache.grow('b', second, 35);
    expect([cache.size, cache.held, cache.get('a')]).toEqual([1, 45, undefined]);
    cache.grow('a', first, 10);
    expect(cache.held).toBe(45);
  });

  it('counts a key that is set again once', () => {
    const cache = createBoundedCache<number>({ entries: 10, bytes: 100 });
    cache.set('a', 1, 60);
    cache.set('a', 2, 30);
    expect([cache.size, cache.held, cache.get('a')]).toEqual([1, 30, 2]);
    cache.clear();
    expect([cache.size, cache.held, cache.get('a')]).toEqual([0, 0, undefined]);
  });
});
