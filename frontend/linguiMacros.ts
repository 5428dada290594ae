/** Runs Lingui's macros before other plug-ins. Lingui offers them for Babel only. */

import { type NodePath, type PluginObj, transformAsync, types } from "@babel/core";
import { compileMessage } from "@lingui/message-utils/compileMessage";
import type { Plugin } from "vite";

// Keep the English text in each call: English needs no catalogue, and a missing translation shows English.
const MACROS = ["@lingui/babel-plugin-lingui-macro", { stripMessageField: false }] as const;

/** Compile a message into its parts, so that the browser needs no message parser (7 kB). */
function compiled(message: string) {
  return types.valueToNode(compileMessage(message));
}

const compiledMessages: PluginObj = {
  visitor: {
    Program: {
      exit(program: NodePath) {
        program.traverse({
          ObjectProperty({ node }) {
            if (types.isIdentifier(node.key, { name: "message" }) && types.isStringLiteral(node.value))
              node.value = compiled(node.value.value);
          },
          JSXAttribute({ node }) {
            if (node.name.name !== "message" || !types.isJSXExpressionContainer(node.value)) return;
            const text = node.value.expression;
            if (types.isStringLiteral(text)) node.value.expression = compiled(text.value);
          },
        });
      },
    },
  },
};

export function linguiMacros(): Plugin {
  return {
    name: "lingui-macros",
    enforce: "pre",
    transform: {
      filter: { id: /\.tsx?$/, code: /@lingui\/\w+\/macro/ },
      async handler(code, filename) {
        const result = await transformAsync(code, {
          babelrc: false,
          configFile: false,
          filename,
          parserOpts: { plugins: ["typescript", "jsx"] },
          plugins: [[...MACROS], compiledMessages],
          sourceMaps: true,
        });
        return result?.code ? { code: result.code, map: result.map ?? null } : null;
      },
    },
  };
}
