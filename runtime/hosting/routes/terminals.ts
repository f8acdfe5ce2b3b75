import { type Call, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
import type { TerminalFields, Terminals } from '../terminals/terminals.ts';

export function terminalHandlers(core: Core, terminals: Terminals) {
  return {
    async openTerminal(call: Call<TerminalFields>) {
      const app = core.apps.byName(call.params['name'] as string);
      return reply(201, await terminals.open(app, call));
    },
  };
}
