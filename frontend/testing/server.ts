/** Mock API; each test defines its responses. */

import { setupServer } from "msw/node";

export const server = setupServer();
