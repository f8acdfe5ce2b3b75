/** What the ingress has counted for one app since its start. */
export interface AppFigures {
  /** Requests by method and class of status, as `GET 2xx`. */
  readonly requests: Readonly<Record<string, number>>;
  /** Requests of each duration: one number for each of `DURATIONS`, and one for longer ones. */
  readonly durations: readonly number[];
  /** Seconds of all requests together. */
  readonly seconds: number;
  readonly inFlight: number;
  /** Bytes of request bodies and of response bodies. */
  readonly received: number;
  readonly sent: number;
}

/** Upper bounds of the histogram, in seconds. */
export const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 10] as const;

/**
 * Methods with a series of their own. Together with the classes of status, the histogram, the gauge
 * and the bytes, an app has at most 40 series, whatever its clients send.
 */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'other'] as const;
const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** Counts the requests of apps. */
export interface FigureCounter {
  begin(appId: string): void;
  end(appId: string, ended: EndedRequest): void;
  read(): Readonly<Record<string, AppFigures>>;
  remove(appId: string): void;
}

export interface EndedRequest {
  readonly method: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly received: number;
  readonly sent: number;
}

interface Counts {
  readonly requests: number[];
  readonly durations: number[];
  milliseconds: number;
  inFlight: number;
  received: number;
  sent: number;
}

export function createFigureCounter(): FigureCounter {
  const apps = new Map<string, Counts>();
  const of = (appId: string): Counts => {
    let counts = apps.get(appId);
    if (!counts) apps.set(appId, (counts = newCounts()));
    return counts;
  };
  return {
    begin: (appId) => void (of(appId).inFlight += 1),
    end(appId, { method, status, milliseconds, received, sent }) {
      const counts = apps.get(appId);
      // The app was removed while the request ran.
      if (!counts) return;
      counts.inFlight = Math.max(0, counts.inFlight - 1);
      counts.requests[seriesOf(method, status)]! += 1;
      counts.durations[bucketOf(milliseconds)]! += 1;
      counts.milliseconds += milliseconds;
      counts.received += received;
      counts.sent += sent;
    },
    read: () => Object.fromEntries([...apps].map(([appId, counts]) => [appId, toFigures(counts)])),
    remove: (appId) => void apps.delete(appId),
  };
}

const newCounts = (): Counts => ({
  requests: Array.from({ length: METHODS.length * CLASSES.length }, () => 0),
  durations: Array.from({ length: DURATIONS.length + 1 }, () => 0),
  milliseconds: 0,
  inFlight: 0,
  received: 0,
  sent: 0,
});

function seriesOf(method: string, status: number): number {
  const known = METHODS.indexOf(method as never);
  const column = Math.min(5, Math.max(1, Math.floor(status / 100))) - 1;
  // Only WebSockets end with 1xx, and they are opened by GET.
  const row = column === 0 ? 0 : known < 0 ? METHODS.length - 1 : known;
  return row * CLASSES.length + column;
}

function bucketOf(milliseconds: number): number {
  let bucket = 0;
  while (bucket < DURATIONS.length && milliseconds > (DURATIONS[bucket] as number) * 1000)
    bucket += 1;
  return bucket;
}

function toFigures({ requests, durations, milliseconds, ...rest }: Counts): AppFigures {
  const named = requests.flatMap((count, series) =>
    count === 0 ? [] : [[nameOf(series), count] as const],
  );
  return {
    requests: Object.fromEntries(named),
    durations,
    seconds: milliseconds / 1000,
    ...rest,
  };
}

const nameOf = (series: number) =>
  `${METHODS[Math.floor(series / CLASSES.length)]} ${CLASSES[series % CLASSES.length]}`;
