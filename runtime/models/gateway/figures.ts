import type { Kernel } from '@twofold/runtime/kernel';
import type { Usage } from './dialect.ts';

/** What a request was for, in figures. */
export interface Labels {
  readonly model: string;
  readonly key: string;
}

/** The figures of models, for Prometheus. */
export interface Figures {
  ended(labels: Labels, code: number, used: Usage): void;
  firstToken(model: string, seconds: number): void;
  queue(by: 1 | -1): void;
  loaded(by: 1 | -1): void;
}

export function createFigures(metrics: Kernel['metrics']): Figures | null {
  if (!metrics) return null;
  const requests = metrics.counter({
    name: 'twofold_models_requests_total',
    help: 'Requests to models',
    labels: ['model', 'key', 'code'],
  });
  const tokens = metrics.counter({
    name: 'twofold_models_tokens_total',
    help: 'Tokens of prompts (in) and of answers (out)',
    labels: ['model', 'key', 'direction'],
  });
  const queue = metrics.gauge({
    name: 'twofold_models_queue',
    help: 'Requests that wait for a model to be loaded',
    labels: [],
  });
  const loaded = metrics.gauge({
    name: 'twofold_models_loaded',
    help: 'Models in memory',
    labels: [],
  });
  const first = metrics.timings(
    { name: 'twofold_models_first_tokens_total', help: 'Answers that began' },
    {
      name: 'twofold_models_time_to_first_token_seconds',
      help: 'Time from a request to the first piece of its answer',
      labels: ['model'],
    },
  );
  return {
    ended({ model, key }, code, { input, output }) {
      requests.add([model, key, String(code)]);
      if (input > 0) tokens.add([model, key, 'in'], input);
      if (output > 0) tokens.add([model, key, 'out'], output);
    },
    firstToken: (model, seconds) => first.series([model]).observe(seconds),
    queue: (by) => queue.add([], by),
    loaded: (by) => loaded.add([], by),
  };
}
