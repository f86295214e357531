package probe
import ("testing";"fmt";"strings";"os";"github.com/twmb/franz-go/pkg/kmsg")
func TestX(t *testing.T){
 b,_:=os.ReadFile("/work/shared/conformance/golden/apiversions/ranges.txt")
 for _,l:=range strings.Split(string(b),"\n"){
  var name string; var k,lo,hi int16
  i:=strings.IndexByte(l,':'); if i<0 {continue}
  fmt.Sscanf(l[:i],"%s %d",&name,&k); fmt.Sscanf(l[i+1:]," %d-%d",&lo,&hi)
  r:=kmsg.RequestForKey(k)
  if r==nil {fmt.Println("NO KMSG",l);continue}
  if r.MaxVersion()<hi {fmt.Println("LAG",l,"kmsg max",r.MaxVersion())}
  if r.MaxVersion()>hi {fmt.Println("AHEAD",l,"kmsg max",r.MaxVersion())}
  fl:=int16(-1)
  for v:=lo;v<=hi+1;v++{r.SetVersion(v); if r.IsFlexible(){fl=v;break}}
  fmt.Println(kmsg.NameForKey(k),k,lo,hi,"flex",fl)
 }
}
