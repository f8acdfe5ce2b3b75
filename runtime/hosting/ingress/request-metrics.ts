import { type AppFigures, DURATIONS } from './figures.ts';

interface NamedFigures {
  readonly name: string;
  readonly figures: AppFigures;
}

/** The figures of the ingress as Prometheus text: at most 40 series an app. */
export function renderRequestMetrics(apps: readonly NamedFigures[]): string {
  if (apps.length === 0) return '';
  const lines = [
    ...header('twofold_http_requests_total', 'counter', 'Requests of clients'),
    ...apps.flatMap(({ name, figures }) =>
      Object.entries(figures.requests).map(([series, count]) => {
        const [method, code] = series.split(' ');
        return `twofold_http_requests_total{app="${name}",method="${method}",code="${code}"} ${count}`;
      }),
    ),
    ...header('twofold_http_request_duration_seconds', 'histogram', 'Time of requests'),
    ...apps.flatMap(histogram),
    ...header('twofold_http_requests_in_flight', 'gauge', 'Requests that run now'),
    ...apps.map(
      ({ name, figures }) => `twofold_http_requests_in_flight{app="${name}"} ${figures.inFlight}`,
    ),
    ...header('twofold_http_bytes_total', 'counter', 'Bytes of bodies'),
    ...apps.flatMap(({ name, figures }) => [
      `twofold_http_bytes_total{app="${name}",direction="in"} ${figures.received}`,
      `twofold_http_bytes_total{app="${name}",direction="out"} ${figures.sent}`,
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

const header = (name: string, type: string, help: string) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

function histogram({ name, figures: { durations, seconds } }: NamedFigures): string[] {
  const series = 'twofold_http_request_duration_seconds';
  let count = 0;
  const buckets = durations.map((more, index) => {
    count += more;
    return `${series}_bucket{app="${name}",le="${DURATIONS[index] ?? '+Inf'}"} ${count}`;
  });
  return [
    ...buckets,
    `${series}_sum{app="${name}"} ${seconds}`,
    `${series}_count{app="${name}"} ${count}`,
  ];
}
