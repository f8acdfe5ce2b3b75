import type { IncomingHttpHeaders } from 'node:http';
import type { NoteStatement } from '../store/statement-log.ts';

/** Values of attributes, by the names of the semantic conventions of OpenTelemetry. */
export type Attributes = Readonly<Record<string, string | number>>;

/**
 * A span while its work runs. A span that is not sampled accepts the same calls and records
 * nothing.
 */
export interface OpenSpan {
  readonly recording: boolean;
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Marks the span as failed. @param type the code of the error that the caller sees */
  fail(type: string): void;
  /**
   * Marks the span as failed by an error that the caller does not see. The span records the error.
   */
  failMasked(cause: unknown): void;
  end(): void;
}

export interface SpanOptions {
  readonly kind: 'server' | 'internal' | 'consumer';
  readonly attributes: Attributes;
}

/** The position of a span in its trace, for work that continues later. */
export type SpanPosition = object;

/**
 * Makes spans with the provider of the project. There is none where traces are off or no provider
 * is registered.
 */
export interface Tracing {
  /** Opens the span of a request, a child of the one that `traceparent` names. */
  request(headers: IncomingHttpHeaders, name: string, attributes: Attributes): OpenRequest;
  /**
   * Runs `work` in a span, below the one around it. A throw fails the span. Below a request that is
   * not sampled it makes none.
   */
  span<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => T): T;
  /** The span around the running code; undefined when it is not sampled. */
  place(): SpanPosition | undefined;
  /** The same place as a text for another process, in the form of `traceparent`. */
  placeText(): string | undefined;
  /** The place that a text of `placeText` refers to. */
  placeOf(text: string): SpanPosition;
  /** Runs `work` inside the span from which `place` was taken. */
  at<T>(place: SpanPosition | undefined, work: () => T): T;
  /** Adds the statements that run inside a span. */
  readonly statements: (system: string) => NoteStatement;
  /** `trace_id` and `span_id` as the middle of a JSON object, for lines of the log. */
  logFields(): string;
}

export interface OpenRequest {
  readonly span: OpenSpan;
  /** Runs the work of the request; the span stays open. */
  run<T>(work: () => T): T;
}
