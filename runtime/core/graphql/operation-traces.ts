import type { Tracing, OpenSpan } from '../traces/tracing.ts';
import { rootCause } from './errors.ts';
import type { Response } from './response.ts';
import type { OperationCall } from './service.ts';
import type { Surroundings } from './surroundings.ts';

/** The most errors of one answer that its span carries. */
const MOST = 5;

/** Opens a span for each operation, and for each event of a subscription. */
export function operationTraces(tracing: Tracing): Surroundings {
  const within = <T extends Response | undefined>(
    call: OperationCall,
    run: () => T | Promise<T>,
  ) => {
    const { name, options } = describe(call);
    return tracing.span(name, options, (span) => {
      const response = run();
      if (!span.recording) return response;
      if (!(response instanceof Promise)) return noted(span, response);
      return response.then((late) => noted(span, late));
    });
  };
  return {
    around: (call, run) => within(call, run),
    accompany: async (call) => ({ event: async (answer) => within(call, answer) }),
  };
}

function describe({ operation: { node } }: OperationCall) {
  const { operation: type } = node;
  const name = node.name?.value;
  return {
    name: name === undefined ? type : `${type} ${name}`,
    options: {
      kind: 'internal',
      attributes: {
        'graphql.operation.type': type,
        ...(name !== undefined && { 'graphql.operation.name': name }),
      },
    },
  } as const;
}

function noted<T extends Response | undefined>(span: OpenSpan, response: T): T {
  for (const { formatted, error } of response?.failed?.errors.slice(0, MOST) ?? []) {
    const code = formatted.extensions?.['code'];
    if (code === 'INTERNAL_SERVER_ERROR') span.failMasked(rootCause(error));
    else span.fail(String(code));
  }
  return response;
}
