import type { DocumentNode } from 'graphql';
import type { Metrics, Series, Timings } from '../metrics/registry.ts';
import type { PreparedOperation } from './document-cache.ts';
import type { Response } from './response.ts';
import type { OperationCall, Service } from './service.ts';
import type { Surroundings } from './surroundings.ts';
import type { DocumentSource } from './trusted-documents.ts';

/** The most names chosen by clients. All further names are counted as `other`. */
const NAMES = 200;
/** The most codes of refusals, some of which may be those of the project. */
const CODES = 100;
const OTHER = 'other';

type Outcome = 'ok' | 'error' | 'refused';

/** Counts operations, refusals and open subscriptions. */
export function operationMetrics(metrics: Metrics, source: DocumentSource): Surroundings {
  const timings = metrics.timings(
    { name: 'graphql_operations_total', help: 'Operations' },
    {
      name: 'graphql_operation_duration_seconds',
      help: 'Time of an operation',
      labels: ['name', 'type', 'outcome'],
      // The names of trusted documents are known, so their number is not limited.
      most: Infinity,
    },
  );
  const refusals = metrics.counter({
    name: 'graphql_refusals_total',
    help: 'Requests that were refused before their operation ran, or because of a limit',
    labels: ['code'],
    most: CODES,
  });
  const subscriptions = metrics.gauge({
    name: 'graphql_subscriptions',
    help: 'Open subscriptions',
    labels: ['transport'],
  });
  const seriesOf = createSeries(timings, createNames(source));
  return {
    around: countAround(seriesOf),
    leave: (response) => {
      if (response.refused) refusals.add([codeOf(response)]);
      return response;
    },
    accompany: async (call, transport) => {
      seriesOf(call, 'ok').count();
      subscriptions.add([transport]);
      return { event: (answer) => answer(), end: () => subscriptions.add([transport], -1) };
    },
  };
}

type SeriesOf = (call: OperationCall, outcome: Outcome) => Series;

function countAround(seriesOf: SeriesOf): NonNullable<Service['around']> {
  return (call, run) => {
    const began = performance.now();
    const done = (outcome: Outcome) =>
      seriesOf(call, outcome).observe((performance.now() - began) / 1000);
    try {
      const response = run();
      if (!(response instanceof Promise)) {
        done(outcomeOf(response));
        return response;
      }
      return response.then(
        (late) => (done(outcomeOf(late)), late),
        (thrown: unknown) => {
          done('refused');
          throw thrown;
        },
      );
    } catch (thrown) {
      done('refused');
      throw thrown;
    }
  };
}

function outcomeOf({ refused, failed }: Response): Outcome {
  if (refused) return 'refused';
  return failed && failed.errors.length > 0 ? 'error' : 'ok';
}

const codeOf = ({ failed }: Response): string => {
  const code = failed?.errors[0]?.formatted.extensions?.['code'];
  return typeof code === 'string' ? code : OTHER;
};

/** The labelled series of an operation. It is looked up once for each document. */
function createSeries(timings: Timings, nameOf: (call: OperationCall) => string): SeriesOf {
  const known = new WeakMap<PreparedOperation, Partial<Record<Outcome, Series>>>();
  return (call, outcome) => {
    const { operation } = call;
    let series = known.get(operation);
    if (!series) known.set(operation, (series = {}));
    return (series[outcome] ??= timings.series([nameOf(call), operation.node.operation, outcome]));
  };
}

/** The name under which an operation counts. */
function createNames({ listed, textOf }: DocumentSource): (call: OperationCall) => string {
  const names = new Set<string>();
  const trusted = new WeakMap<DocumentNode, boolean>();
  const isTrusted = ({ operation: { document }, parameters }: OperationCall) => {
    if (listed.size === 0) return false;
    const known = trusted.get(document) ?? listed.has(textOf(parameters));
    trusted.set(document, known);
    return known;
  };
  return (call) => {
    const name = call.operation.node.name?.value ?? 'anonymous';
    if (names.has(name) || isTrusted(call)) return name;
    if (names.size >= NAMES) return OTHER;
    names.add(name);
    return name;
  };
}
