/** Lets one holder in at a time, in the order they came. */
export interface Mutex {
  /** Resolves with the function that lets the next one in; calling it twice does nothing. */
  acquire(): Promise<() => void>;
  /** The same at once; undefined when somebody holds it. */
  tryAcquire(): (() => void) | undefined;
  readonly held: boolean;
}

/** @example const release = await mutex.acquire(); try { … } finally { release(); } */
export function createMutex(): Mutex {
  const waiting: (() => void)[] = [];
  let held = false;
  const next = () => {
    const waiter = waiting.shift();
    if (waiter) waiter();
    else held = false;
  };
  const releaser = () => {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      next();
    };
  };
  return {
    get held() {
      return held;
    },
    tryAcquire: () => {
      if (held) return undefined;
      held = true;
      return releaser();
    },
    acquire: () =>
      new Promise((resolve) => {
        if (held) return void waiting.push(() => resolve(releaser()));
        held = true;
        resolve(releaser());
      }),
  };
}
