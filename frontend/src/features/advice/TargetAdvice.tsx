import { AdviceSection } from "./AdviceSection";
import { targetAdviceQuery } from "./queries";

export default function TargetAdvice({ targetId }: { targetId: number }) {
  return <AdviceSection query={targetAdviceQuery(targetId)} />;
}
