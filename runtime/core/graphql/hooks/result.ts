import { parseExact } from '../../data/sql/exact-json.ts';
import { isDeepStrictEqual } from 'node:util';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { RequestContext } from '../../context/request-context.ts';
import type { GraphqlResult } from '../../plugin.ts';
import { isGraphqlError, thrownByHook, toGraphqlError } from '../errors.ts';
import { failedResponse, type Response, type ShownError, showErrors } from '../response.ts';

/** The answer of an operation while hooks look at it: an object is made of it on first use. */
export class HookedResult {
  readonly #response: Response;
  readonly #context: RequestContext;
  #known: readonly ShownError[] = [];
  #object: GraphqlResult | undefined;
  #isReplaced = false;

  constructor(response: Response, context: RequestContext) {
    this.#response = response;
    this.#context = context;
  }

  get result(): GraphqlResult {
    return (this.#object ??= this.#made());
  }

  set result(result: GraphqlResult) {
    this.#object = result;
    this.#isReplaced = true;
  }

  /** The answer after all hooks. One that they only read is sent as it was, byte for byte. */
  get response(): Response {
    if (!this.#object || this.#isUnchanged(this.#object)) return this.#response;
    const { errors = [], data, ...others } = this.#object;
    const shown = errors.flatMap((error) => this.#shown(error));
    const { refused } = this.#response;
    return failedResponse({ errors: shown, data, ...others }, data === undefined && refused);
  }

  #made(): GraphqlResult {
    const { failed, text } = this.#response;
    if (!failed) return parseExact(String(text));
    this.#known = failed.errors;
    const errors = failed.errors.map(({ formatted }) => formatted);
    return { ...parseExact(String(text)), ...(errors.length > 0 && { errors }) };
  }

  #isUnchanged(object: GraphqlResult): boolean {
    if (this.#isReplaced) return false;
    return isDeepStrictEqual(
      JSON.parse(JSON.stringify(object)),
      JSON.parse(String(this.#response.text)),
    );
  }

  /** An error that a hook has added: an error object is masked like any other. */
  #shown(formatted: GraphQLFormattedError): readonly ShownError[] {
    const known = this.#known.find((each) => each.formatted === formatted);
    if (known) return [known];
    if (formatted instanceof Error || isGraphqlError(formatted))
      return showErrors([toGraphqlError(thrownByHook(formatted))], this.#context);
    const { message, extensions } = formatted;
    return [{ formatted, error: new GraphQLError(message, { extensions }) }];
  }
}

/** The answer that a hook gives in place of running the operation. */
export function resultOf(result: GraphqlResult, context: RequestContext): Response {
  const made = new HookedResult({ text: '{}', refused: false }, context);
  made.result = result;
  return made.response;
}
