/** A row of a table: each child is a cell; one that needs attributes is a `td` itself. */

import { Children, type ComponentPropsWithRef, isValidElement } from "react";

export function Row({ children, ...row }: ComponentPropsWithRef<"tr">) {
  return (
    <tr {...row}>
      {Children.map(children, (cell) =>
        isValidElement(cell) && cell.type === "td" ? cell : <td>{cell}</td>,
      )}
    </tr>
  );
}
