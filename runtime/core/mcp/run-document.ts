import type { McpSettings } from '@twofold/schema';
import { failed, type ToolAnswer } from '@twofold/schema/mcp';
import type { JsonText } from '../store/large-text.ts';
import { type Parameters, readParameters } from '../graphql/parameters.ts';
import type { Response } from '../graphql/response.ts';
import { findOperation, leaveRefused, respond, type Service } from '../graphql/service.ts';
import { tooLarge } from './result-limit.ts';
import type { ToolCaller } from './tool-source.ts';

/** An operation of a tool. */
export interface ToolOperation {
  readonly query: string;
  readonly operationName?: string;
  readonly variables: unknown;
}

/** Runs an operation as `/graphql` does: the same rules, limits, statements and errors. */
export async function runDocument(
  service: Service,
  mcp: McpSettings,
  operation: ToolOperation,
  caller: ToolCaller,
): Promise<ToolAnswer> {
  const refused = (thrown: unknown) => leaveRefused(service, thrown, caller.context);
  let parameters: Parameters;
  try {
    parameters = readParameters({ ...operation });
  } catch (error) {
    return toAnswer(await refused(error), mcp);
  }
  const { context, koa } = caller;
  try {
    const found = await findOperation(service, parameters, context);
    const kind = found.node.operation;
    if (kind === 'subscription') return failed('a subscription is no tool: read the rows again');
    if (kind === 'mutation' && !mcp.writes)
      return failed('this API takes no mutations here: api.mcp.writes is off');
    if (kind === 'mutation') caller.assertMayWrite();
    koa.state['operation'] = found.node;
    return toAnswer(await respond(service, { operation: found, parameters, context }), mcp);
  } catch (error) {
    if (isInsufficient(error)) throw error;
    return toAnswer(await refused(error), mcp);
  }
}

/**
 * Whether a scope is missing. The transport then answers with an HTTP status, which lets the client
 * ask for the scope.
 */
const isInsufficient = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'INSUFFICIENT_SCOPE';

function toAnswer(response: Response, { result }: McpSettings): ToolAnswer {
  if (response.failed && response.failed.errors.length > 0)
    return { ...limited(response.text, result), failed: true };
  const data = dataOf(response);
  const answer = limited(data, result);
  return answer.failed ? answer : { ...answer, structured: answer.text };
}

const LEAD = '{"data":';

/** The data of a response as text. Members that plugins add beside the data are left out. */
function dataOf({ text, failed: parts }: Response): JsonText {
  return parts ? JSON.stringify(parts.data) : text.slice(LEAD.length, -1);
}

const RESULT = { what: 'the result', advice: 'select fewer fields or fewer rows' };

function limited(text: JsonText, limit: number): ToolAnswer {
  return tooLarge(text, limit, RESULT) ?? { text: String(text), untrusted: true };
}
