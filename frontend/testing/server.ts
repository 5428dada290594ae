/** The API as the tests see it: each test says what it answers. */

import { setupServer } from "msw/node";

export const server = setupServer();
