import { flowsIn } from '@twofold/runtime/http';
import * as description from './description.ts';
import type { ConsoleState } from './flow.ts';
import * as logs from './logs.ts';
import * as schema from './schema.ts';
import * as server from './server.ts';
import * as settings from './settings.ts';

/** The endpoints that only the console needs. */
export const consoleFlows = flowsIn<ConsoleState>(description, schema, server, settings, logs);
