export { type Answer, answerMessage } from './answer.ts';
export { type ProtocolHeaders } from './era.ts';
export { CODES, errorText, idOf, invalidParams, isObject, ProtocolError } from './message.ts';
export {
  failed,
  READS,
  structured,
  type Tool,
  type Toolbox,
  type ToolAnswer,
  type ToolHints,
  type ToolPage,
  wrongArguments,
} from './toolbox.ts';
